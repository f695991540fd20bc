// The workspace's page: the channel, its threads, their messages, and a box to write in. Text from others only ever becomes text.

const API = '/api/v10';
const $ = (id) => document.getElementById(id);
const state = { channel: undefined, threads: new Map(), messages: new Map(), at: undefined };
const gateway = { session: undefined, seq: null, attempt: 0 };

connect();
$('write').addEventListener('submit', (event) => {
  event.preventDefault();
  void write();
});
$('text').addEventListener('keydown', (event) => {
  if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  void write();
});

function connect() {
  const socket = new WebSocket(`ws://${location.host}/gateway?v=10&encoding=json`);
  let beating;
  const send = (op, d) => socket.send(JSON.stringify({ op, d }));
  socket.addEventListener('message', ({ data }) => {
    const { op, d, s, t } = JSON.parse(data);
    if (s !== null) gateway.seq = s;
    if (op === 10) {
      beating = setInterval(() => send(1, gateway.seq), d.heartbeat_interval);
      if (gateway.session) send(6, { token: '', session_id: gateway.session, seq: gateway.seq });
      else send(2, { token: '', intents: 0, properties: {} });
    }
    if (op === 9) {
      gateway.session = undefined;
      socket.close(4000);
    }
    if (op === 0) dispatch(t, d);
  });
  socket.addEventListener('close', () => {
    clearInterval(beating);
    void explain();
    const wait = Math.min(15000, 500 * 2 ** gateway.attempt++) * (0.5 + Math.random() / 2);
    setTimeout(connect, wait);
  });
}

async function explain() {
  const answer = await fetch(`${API}/users/@me`).catch(() => undefined);
  const stranger = answer?.status === 401;
  $('status').textContent = stranger
    ? 'Open the link that the program printed; it lets this browser in.'
    : 'The connection is gone. Trying again…';
}

function dispatch(type, data) {
  switch (type) {
    case 'READY':
      gateway.session = data.session_id;
      gateway.attempt = 0;
      $('status').textContent = '';
      return;
    case 'RESUMED':
      gateway.attempt = 0;
      $('status').textContent = '';
      return;
    case 'GUILD_CREATE':
      state.channel = data.channels[0];
      state.threads = new Map(data.threads.map((thread) => [thread.id, thread]));
      return void visit(state.at ?? state.channel.id);
    case 'CHANNEL_UPDATE':
      state.channel = data;
      return listPlaces();
    case 'THREAD_CREATE':
    case 'THREAD_UPDATE':
      if (data.thread_metadata.archived) state.threads.delete(data.id);
      else state.threads.set(data.id, data);
      return listPlaces();
    case 'THREAD_DELETE':
      state.threads.delete(data.id);
      return listPlaces();
    case 'MESSAGE_CREATE':
    case 'MESSAGE_UPDATE':
      if (data.channel_id !== state.at) return;
      state.messages.set(data.id, data);
      return listMessages();
    case 'MESSAGE_DELETE':
      if (state.messages.delete(data.id)) listMessages();
  }
}

async function visit(id) {
  state.at = id;
  listPlaces();
  const answer = await fetch(`${API}/channels/${id}/messages?limit=100`);
  if (!answer.ok || state.at !== id) return;
  const messages = await answer.json();
  state.messages = new Map(messages.reverse().map((message) => [message.id, message]));
  listMessages();
}

function listPlaces() {
  const places = [state.channel, ...state.threads.values()].filter(Boolean);
  $('places').replaceChildren(
    ...places.map((place) => {
      const button = document.createElement('button');
      button.textContent = place === state.channel ? `# ${place.name}` : place.name;
      button.setAttribute('aria-current', String(place.id === state.at));
      button.addEventListener('click', () => void visit(place.id));
      return element('li', button);
    }),
  );
}

function listMessages() {
  const list = $('messages');
  const atEnd = list.scrollHeight - list.scrollTop - list.clientHeight < 40;
  list.replaceChildren(
    ...[...state.messages.values()].map((message) => {
      const files = message.attachments.map((file) => {
        const link = document.createElement('a');
        link.href = new URL(file.url).pathname + new URL(file.url).search;
        link.textContent = file.filename;
        return link;
      });
      const name = message.author.global_name ?? message.author.username;
      return element('li', element('b', name), message.content, ...files);
    }),
  );
  if (atEnd) list.scrollTop = list.scrollHeight;
}

function element(tag, ...children) {
  const made = document.createElement(tag);
  made.append(...children);
  return made;
}

async function write() {
  const box = $('text');
  const content = box.value;
  if (content.trim() === '' || state.at === undefined) return;
  const answer = await fetch(`${API}/channels/${state.at}/messages`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ content }),
  }).catch(() => undefined);
  if (answer?.ok) box.value = '';
  else $('status').textContent = 'The message was not sent; it is still in the box.';
}
