// The buttons and menus under a prompt.

import type { Progress, Prompt, Question } from '../core/prompt.ts';
import { customId } from '../core/prompt-id.ts';
import { button, row } from '../discord/buttons.ts';
import type { Row } from '../discord/messages.ts';

const IN_A_ROW = 5;

export function promptButtons(id: string, prompt: Prompt, progress: Progress): readonly Row[] {
  const tap = (action: string, value?: number) => customId(id, action, value);
  switch (prompt.kind) {
    case 'permission':
      return [
        row(
          button('Allow', tap('allow'), 'good'),
          ...(prompt.canAlways ? [button('Always allow', tap('always'))] : []),
          button('Deny', tap('deny'), 'bad'),
          button('Deny with a reason…', tap('~reason')),
        ),
      ];
    case 'plan':
      return [
        row(
          button('Approve', tap('approve'), 'good'),
          button('Reject with feedback…', tap('~reason'), 'bad'),
        ),
      ];
    case 'question': {
      const asked = prompt.questions[progress.chosen.length];
      if (asked === undefined)
        return [row(button('Submit', tap('submit'), 'good'), button('Start again', tap('again')))];
      return questionButtons(id, asked, progress.chosen.length > 0);
    }
  }
}

/** One button an option; a menu past five, or where several may be chosen. */
function questionButtons(id: string, asked: Question, canGoBack: boolean): readonly Row[] {
  const last = [
    button('Other…', customId(id, '~other')),
    ...(canGoBack ? [button('Start again', customId(id, 'again'))] : []),
  ];
  if (asked.multiSelect || asked.options.length > IN_A_ROW) return [menu(id, asked), row(...last)];
  const options = asked.options.map(({ label }, at) =>
    button(`${at + 1}. ${label}`, customId(id, 'pick', at + 1), 'primary'),
  );
  return options.length === 0 ? [row(...last)] : [row(...options), row(...last)];
}

function menu(id: string, asked: Question): Row {
  const options = asked.options.slice(0, 25).map(({ label, description }, at) => ({
    label: cut(`${at + 1}. ${label}`),
    value: String(at + 1),
    ...(description === '' ? {} : { description: cut(description) }),
  }));
  return {
    type: 1,
    components: [
      {
        type: 3,
        custom_id: customId(id, 'choose'),
        placeholder: asked.multiSelect ? 'Choose one or more' : 'Choose one',
        min_values: 1,
        max_values: asked.multiSelect ? options.length : 1,
        options,
      },
    ],
  };
}

function cut(text: string): string {
  const points = [...text];
  return points.length <= 100 ? text : `${points.slice(0, 99).join('')}…`;
}
