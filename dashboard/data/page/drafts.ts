/**
 * Unsent input of a person, by the name of the field. It stays when its row moves to another band or the person opens
 * another screen, until it is sent. A field that the person emptied is a draft too; null means no draft.
 */
const drafts = new Map<string, string>();

export function draftOf(name: string): string | null {
  return drafts.get(name) ?? null;
}

export function keepDraft(name: string, text: string | null): void {
  if (text === null) drafts.delete(name);
  else drafts.set(name, text);
}
