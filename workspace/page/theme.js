// Runs before anything is drawn, so that the chosen theme does not flash. A classic script, because modules load too late.
try {
  const theme = JSON.parse(localStorage.getItem('threadmux:theme') ?? '"auto"');
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
} catch {
  // use the system's theme
}
