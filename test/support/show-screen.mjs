// Draws recorded screens into its pane. usage: node show-screen.mjs <socket>
import { createServer } from 'node:net';

function obey({ exit, ansi, x, y }, done) {
  if (exit) process.stdout.write('\x1b[H\x1b[2J', () => process.exit(0));
  if (exit) return;
  const rows = ansi.replace(/\n$/, '').split('\n').join('\r\n');
  process.stdout.write(`\x1b[H\x1b[2J${rows}\x1b[${y + 1};${x + 1}H`, done);
}

createServer((socket) => {
  let order = '';
  socket.setEncoding('utf8').on('data', (data) => {
    order += data;
    if (order.endsWith('\n')) obey(JSON.parse(order), () => socket.end('drawn'));
  });
  socket.on('error', () => {});
}).listen(process.argv[2]);
process.stdin.setRawMode(true);
process.stdin.resume();
