/**
 * The page never loses the focus. When an update, or the user's own action, removes the focused element, the focus goes
 * back to where that was. What must hold:
 *
 * - A user who has left a field on purpose is not brought back to it or to its neighbours.
 * - An element that only moved, such as a row in a new order, keeps the focus.
 * - A dialog gives the focus back itself. If nothing had it before, nothing has it afterwards.
 */
export function startKeepingFocus(): void {
  let last: HTMLElement | null = null;
  let home: Element | null = null;
  let dialog: Element | null = null;
  document.addEventListener('focusin', ({ target }) => {
    last = target instanceof HTMLElement ? target : null;
    home = last?.closest('[data-row-of], [data-home]') ?? null;
    dialog = last?.closest('dialog') ?? null;
  });
  document.addEventListener('focusout', ({ target }) => {
    // Removed or moved elements have been handled by then.
    requestAnimationFrame(() => {
      if (target === last && last?.isConnected && document.activeElement !== last) last = null;
    });
  });
  const watcher = new MutationObserver((records) => {
    if (last === null || isSomewhere() || dialog?.isConnected === false) return;
    const lost = records.findLast(({ removedNodes }) => [...removedNodes].some((node) => node.contains(last)));
    if (lost === undefined) return;
    const next = last.isConnected ? last : (within(home) ?? rowNear(lost) ?? document.querySelector('h1'));
    // The next element now stands where the person was looking: nothing has to scroll.
    next?.focus({ preventScroll: true });
  });
  watcher.observe(document.body, { childList: true, subtree: true });
}

function isSomewhere(): boolean {
  return document.activeElement !== null && document.activeElement !== document.body;
}

/** The row that is left around the focused element, or the first control in it. */
function within(home: Element | null): HTMLElement | null {
  if (home === null || !home.isConnected) return null;
  return home.querySelector<HTMLElement>('[data-row]') ?? home.querySelector<HTMLElement>('button, a[href]');
}

/** The row after the place where something was taken away, or the last one before it. */
function rowNear({ target, nextSibling }: MutationRecord): HTMLElement | null {
  const rows = [...document.querySelectorAll<HTMLElement>('main [data-row]')];
  const mark = nextSibling?.isConnected ? nextSibling : null;
  const isAfter = (row: HTMLElement): boolean =>
    mark !== null
      ? mark.contains(row) || isBefore(mark, row)
      : target.isConnected && !target.contains(row) && isBefore(target, row);
  const index = rows.findIndex(isAfter);
  return (index === -1 ? rows.at(-1) : rows[index]) ?? null;
}

function isBefore(one: Node, other: Node): boolean {
  return (one.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0;
}
