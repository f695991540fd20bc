// Loaded into a program: says so on stderr if nothing but timers has kept it running for ten looks in a row.

let looks = 0;
setInterval(() => {
  const keeping = process.getActiveResourcesInfo().filter((what) => !/^(?:Pipe|TTY)Wrap$/.test(what));
  looks = keeping.length > 0 && keeping.every((what) => what === 'Timeout') ? looks + 1 : 0;
  if (looks === 10) process.stderr.write('only timers\n');
}, 20).unref();
