// The buttons and menus under a prompt.

import { answersValue, optionValue, type Prompt, type PromptProgress, type PromptQuestion } from '../../core/prompt.ts';
import { customId } from '../../core/prompt-answer.ts';
import { button, type ComponentRow, row } from '../../discord/messages.ts';
import { firstPart, visible } from './preview.ts';

const IN_A_ROW = 5;

export function promptButtons(id: string, prompt: Prompt, progress: PromptProgress): readonly ComponentRow[] {
  const tap = (action: string) => customId(id, action);
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
      return [row(button('Approve', tap('approve'), 'good'), button('Reject with feedback…', tap('~reason'), 'bad'))];
    case 'too large':
      return [row(button('Deny', tap('deny'), 'bad'), button('Deny with a reason…', tap('~reason')))];
    case 'question': {
      const asked = prompt.questions[progress.chosen.length];
      if (asked === undefined)
        return [
          row(
            button('Submit', customId(id, 'submit', answersValue(progress.chosen)), 'good'),
            button('Start again', tap('again')),
          ),
        ];
      return questionButtons(id, asked, progress.chosen.length + 1);
    }
  }
}

/** One button per option; a menu for more than five options or a multiple choice. */
function questionButtons(id: string, asked: PromptQuestion, at: number): readonly ComponentRow[] {
  const more = [
    ...(asked.onlyOptions ? [] : [button('Other…', customId(id, '~other', optionValue(at, 0)))]),
    ...(at > 1 ? [button('Start again', customId(id, 'again'))] : []),
  ];
  const last = more.length === 0 ? [] : [row(...more)];
  if (asked.options.length === 0) return last;
  if (asked.multiSelect || asked.options.length > IN_A_ROW) return [menu(id, asked, at), ...last];
  const options = asked.options.map(({ label }, index) =>
    button(named(label, index), customId(id, 'pick', optionValue(at, index + 1)), 'primary'),
  );
  return [row(...options), ...last];
}

/** Past 25, the text has the others, with their numbers. */
function menu(id: string, asked: PromptQuestion, at: number): ComponentRow {
  const options = asked.options.slice(0, 25).map(({ label, description }, index) => ({
    label: named(label, index),
    value: optionValue(at, index + 1),
    ...(visible(description, 100) === '' ? {} : { description: firstPart(visible(description, 100), 100) }),
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

/** Short enough for a button and for a menu. */
function named(label: string, index: number): string {
  return firstPart(`${index + 1}. ${visible(label, 80)}`, 80);
}
