// What Discord renders as Markdown in a message: everything outside of code. A mark of code that is never closed begins no code.

export function outsideCode(content: string): string {
  const blocks = content.split('```');
  const isOpen = blocks.length % 2 === 0;
  return blocks
    .filter((_, at) => at % 2 === 0 || (isOpen && at === blocks.length - 1))
    .map((text) => {
      const parts = text.split('`');
      return parts.filter((_, at) => at % 2 === 0 || at === parts.length - 1).join(' ');
    })
    .join('\n');
}
