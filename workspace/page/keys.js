// Keys that work anywhere on the page.

/** @param {{ search(): void, write(): void, move(step: number): void, nextUnread(): void }} act */
export function listenToKeys(act) {
  document.addEventListener('keydown', (event) => {
    if (event.isComposing || event.defaultPrevented) return;
    const command = event.ctrlKey || event.metaKey;
    if (command && !event.altKey && event.key.toLowerCase() === 'k') act.search();
    else if (event.altKey && !command && event.key === 'ArrowUp') act.move(-1);
    else if (event.altKey && !command && event.key === 'ArrowDown') act.move(1);
    else if (event.altKey && !command && event.key.toLowerCase() === 'n') act.nextUnread();
    else if (event.key === 'Escape' && document.querySelector('dialog[open]') === null) act.write();
    else if (event.key === '/' && isNowhere(event.target)) act.write();
    else return;
    event.preventDefault();
  });
}

function isNowhere(target) {
  return !/^(?:INPUT|TEXTAREA|SELECT)$/.test(target?.tagName ?? '');
}
