// Runs before anything is drawn, so that a chosen theme does not flash. Classic script: modules come too late.
try {
  const theme = JSON.parse(localStorage.getItem('threadmux:theme') ?? '"auto"');
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
} catch {
  // the system's theme will do
}
