/** Enter begins a new line in a text of several lines; with Ctrl, or Cmd on a Mac, it sends the text. */
export function isSendKey(event: KeyboardEvent): boolean {
  return event.key === 'Enter' && (event.ctrlKey || event.metaKey) && !event.isComposing && !event.repeat;
}

/** The same keys, for people. */
export const sendKeyWords: string = navigator.platform.startsWith('Mac') ? '⌘ Enter' : 'Ctrl+Enter';

/** The Enter key that opened a field may still be held down; it does not fill the field with empty lines. */
export function isHeldEnter(event: KeyboardEvent): boolean {
  return event.key === 'Enter' && event.repeat;
}
