// The message box. Typed text is never lost: each place keeps its draft, and text that could not be sent stays.

import { call } from './api.js';
import { byId, recall, remember } from './dom.js';
import { addFiles, dropFiles, filesIn, unsentView } from './files.js';
import { newNonce } from './session-state.js';
import { makeSuggestions, optionsOf, parseSlash } from './suggestions.js';

const LONGEST = 2000;

/**
 * @param {{ interactions: any, commands(): readonly any[], onSent(): void }} options
 */
export function makeComposer({ interactions, commands, onSent }) {
  const box = byId('text');
  const form = byId('composer');
  const trouble = byId('send-trouble');
  const drafts = recall('drafts', {});
  /** @type {Map<string, { id: string, file: File, url?: string }[]>} */
  const pending = new Map();
  let place;
  let sending = false;
  let endsOnline = false;
  /** Unchanged while the draft is: a retry cannot send it twice. */
  let nonce = newNonce();

  const files = () => pending.get(place) ?? [];
  const suggestions = makeSuggestions({
    box,
    commands,
    complete: (name, options) => interactions.complete(place, name, options),
    onPick(text) {
      box.value = text;
      changed();
      box.focus();
    },
  });

  const grow = () => {
    box.style.height = 'auto';
    if (box.scrollHeight === 0) return; // hidden, so it has no height yet
    box.style.height = `${Math.min(box.scrollHeight + 2, Math.round(innerHeight * 0.4))}px`;
  };
  const draw = () => {
    grow();
    const length = [...box.value].length;
    const note = byId('length-note');
    note.hidden = length <= LONGEST;
    note.textContent = `${length} characters: it will be sent as a file, message.txt.`;
    unsentView(byId('pending'), files(), (left) => {
      pending.set(place, left);
      nonce = newNonce();
      draw();
      box.focus();
    });
    byId('send').disabled = sending || (box.value.trim() === '' && files().length === 0);
  };
  /** Only this one is written: another tab may have other drafts. */
  const keep = (id, text) => {
    if (text === '') delete drafts[id];
    else drafts[id] = text;
    remember('drafts', { ...recall('drafts', {}), [id]: drafts[id] });
  };
  const save = () => keep(place, box.value);
  const changed = () => {
    nonce = newNonce();
    trouble.hidden = true;
    save();
    draw();
    void suggestions.update();
  };
  const fail = (sentence, untilOnline = false) => {
    endsOnline = untilOnline;
    trouble.hidden = false;
    trouble.replaceChildren(sentence);
  };

  /** Removes what was sent, but nothing that was typed meanwhile. */
  const sent = (text, from) => {
    if (place === from && box.value.startsWith(text)) {
      box.value = box.value.slice(text.length).replace(/^\n/, '');
    } else if (drafts[from] === text) keep(from, '');
    pending.delete(from);
    nonce = newNonce();
    if (place === from) save();
  };

  const send = async () => {
    const text = box.value;
    if (sending || place === undefined || (text.trim() === '' && files().length === 0)) return;
    const from = place;
    sending = true;
    form.setAttribute('aria-busy', 'true');
    draw();
    const outcome = await dispatch(from, text, files());
    sending = false;
    form.removeAttribute('aria-busy');
    if (outcome.ok) {
      sent(text, from);
      trouble.hidden = true;
      onSent();
    } else if (place === from) fail(`Not sent: ${outcome.message} It is still here; try again.`, outcome.status === 0);
    suggestions.close();
    draw();
    void suggestions.update();
  };

  const dispatch = async (channelId, text, attached) => {
    const mayBeOurs = text.startsWith('/') && attached.length === 0 && !suggestions.isForClaude();
    const parsed = mayBeOurs ? parseSlash(text.trimEnd(), commands()) : undefined;
    if (parsed?.command !== undefined) {
      const { command, values = new Map(), missing } = parsed;
      const needed = missing ?? (parsed.kind === 'naming' && command.options?.find(({ required }) => required));
      if (needed) return { ok: false, message: `/${command.name} needs “${needed.name}”.` };
      return interactions.command(channelId, command.name, optionsOf(command, values));
    }
    const tooLong = [...text].length > LONGEST;
    const uploads = attached.map(({ file }) => file);
    if (tooLong) uploads.unshift(new File([text], 'message.txt', { type: 'text/plain' }));
    const payload = { content: tooLong ? '' : text, nonce, enforce_nonce: true };
    if (uploads.length === 0) return call('POST', `/channels/${channelId}/messages`, payload);
    const body = new FormData();
    body.set('payload_json', JSON.stringify(payload));
    uploads.forEach((file, at) => {
      body.set(`files[${at}]`, file, file.name);
    });
    return call('POST', `/channels/${channelId}/messages`, body);
  };

  const take = (given) => {
    if (place === undefined) return;
    const { all, refused } = addFiles(files(), given);
    pending.set(place, all);
    nonce = newNonce();
    if (refused !== undefined) fail(refused);
    draw();
    box.focus();
  };

  box.addEventListener('input', changed);
  box.addEventListener('keydown', (event) => {
    if (event.isComposing || suggestions.key(event)) return;
    if (event.key !== 'Enter' || event.shiftKey) return;
    event.preventDefault();
    void send();
  });
  box.addEventListener('blur', () => suggestions.close());
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void send();
  });
  byId('attach').addEventListener('click', () => byId('file').click());
  byId('file').addEventListener('change', ({ target }) => {
    take({ files: target.files });
    target.value = '';
  });
  box.addEventListener('paste', (event) => {
    if (event.clipboardData.files.length === 0) return;
    event.preventDefault();
    take(filesIn(event.clipboardData));
  });
  dropFiles(byId('talk'), byId('drop'), take);
  byId('slash').addEventListener('click', () => {
    if (!box.value.startsWith('/')) box.value = `/${box.value}`;
    box.focus();
    changed();
  });

  return {
    /** The workspace can be reached again. */
    online() {
      if (endsOnline) trouble.hidden = true;
    },
    /** @param {string} id @param {string} name */
    moveTo(id, name) {
      const words = `Message ${name}`;
      if (place === id && box.placeholder === words) return;
      if (place !== id) {
        place = id;
        box.value = drafts[id] ?? '';
        trouble.hidden = true;
        suggestions.close();
        nonce = newNonce();
      }
      box.placeholder = words;
      draw();
    },
    focus: () => box.focus(),
  };
}
