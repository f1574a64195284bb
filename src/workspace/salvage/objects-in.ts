export interface ReadObject {
  readonly id: string;
  readonly type: string;
  /** One character a byte. */
  readonly content: string;
}

/** The objects in what `git cat-file --batch` wrote; those that were missing are left out. */
export function* objectsIn(text: string): Generator<ReadObject> {
  let at = 0;
  while (at < text.length) {
    const end = text.indexOf('\n', at);
    if (end < 0) return;
    const [id = '', type = '', size] = text.slice(at, end).split(' ');
    at = end + 1;
    if (size === undefined) continue;
    const length = Number(size);
    yield { id, type, content: text.slice(at, at + length) };
    at += length + 1;
  }
}
