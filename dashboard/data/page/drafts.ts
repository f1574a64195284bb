/**
 * What a person has typed or chosen and not sent, by the name of the field. It stays when its row moves to another band or
 * the person looks at another screen, until it is sent. A field that he made empty is a draft too: null is none.
 */
const drafts = new Map<string, string>();

export function draftOf(name: string): string | null {
  return drafts.get(name) ?? null;
}

export function keepDraft(name: string, text: string | null): void {
  if (text === null) drafts.delete(name);
  else drafts.set(name, text);
}
