// What the person does with a prompt or a command, as interactions: asked with a mark of our own, and settled when the
// workspace tells the outcome under the same mark.

import { call } from './api.js';
import { newNonce } from './ids.js';

const PATIENCE_MS = 6_000;
const NO_ANSWER = 'Nobody answered. Is the program still running?';

/** @typedef {{ ok: true, choices?: any[] } | { ok: false, message: string }} Outcome */

/** @param {(channelId: string, modal: any) => void} openModal */
export function makePersonInteractions(openModal) {
  const waiting = new Map();

  /** @returns {Promise<Outcome>} */
  const ask = (body) =>
    new Promise((resolve) => {
      const nonce = newNonce();
      const settle = (outcome) => {
        clearTimeout(timer);
        waiting.delete(nonce);
        resolve(outcome);
      };
      const timer = setTimeout(() => settle({ ok: false, message: NO_ANSWER }), PATIENCE_MS);
      waiting.set(nonce, settle);
      call('POST', '/interactions', { ...body, nonce }).then((answer) => {
        if (!answer.ok) settle(answer);
      });
    });

  return {
    tap: (message, customId, values) =>
      ask({
        type: 3,
        channel_id: message.channel_id,
        message_id: message.id,
        data: { custom_id: customId, ...(values && { values }) },
      }),
    command: (channelId, name, options) => ask({ type: 2, channel_id: channelId, data: { name, options } }),
    complete: (channelId, name, options) => ask({ type: 4, channel_id: channelId, data: { name, options } }),
    submit: (channelId, interactionId, values) =>
      ask({
        type: 5,
        channel_id: channelId,
        interaction_id: interactionId,
        data: { values },
      }),
    /** @param {string} type @param {any} data */
    hear(type, data) {
      const settle = waiting.get(data?.nonce);
      if (settle === undefined) return;
      switch (type) {
        case 'INTERACTION_SUCCESS':
          return settle({ ok: true });
        case 'INTERACTION_FAILURE':
          return settle({ ok: false, message: NO_ANSWER });
        case 'APPLICATION_COMMAND_AUTOCOMPLETE_RESPONSE':
          return settle({ ok: true, choices: data.choices });
        case 'INTERACTION_MODAL_CREATE':
          openModal(data.channel_id, data);
          return settle({ ok: true });
      }
    },
  };
}
