/** Something that the palette reaches. */
export interface PaletteItem {
  readonly id: string;
  readonly group: 'Screens' | 'Issues' | 'Actions' | 'Found';
  readonly label: string;
  readonly detail: string;
  /** Ends something: Enter is asked for twice. */
  readonly isConfirmed?: boolean;
  readonly run: () => void;
}

/** A live row, and the further text of an item about it. */
interface Subject {
  readonly project: string;
  readonly row: { readonly issue_identifier: string | null; readonly title: string | null };
  readonly more: string;
}

export interface Matches {
  add(item: PaletteItem): void;
  /** The same for one of thousands: the item is made only when it fits. */
  addOf(subject: Subject, make: () => PaletteItem): void;
  isFull(): boolean;
  items(): readonly PaletteItem[];
}

/**
 * Items that contain every word, at most `most`, each id once. What must hold: an issue whose name was typed in full is
 * among them however many others match, and before them.
 */
export function createMatches(words: readonly string[], most = Number.POSITIVE_INFINITY): Matches {
  const named = new Map<string, PaletteItem>();
  const others = new Map<string, PaletteItem>();
  const isFull = (): boolean => named.size + others.size >= most;
  return {
    add(item) {
      const text = `${item.label} ${item.detail}`.toLowerCase();
      if (!isFull() && words.every((word) => text.includes(word))) others.set(item.id, item);
    },
    addOf(subject, make) {
      const { name, text } = textOf(subject);
      const isNamed = words.includes(name);
      if (!isNamed && isFull()) return;
      const left = words.filter((word) => !text.includes(word));
      if (left.length > 0) {
        const more = subject.more.toLowerCase();
        if (!left.every((word) => more.includes(word))) return;
      }
      const item = make();
      if (!named.has(item.id) && !others.has(item.id)) (isNamed ? named : others).set(item.id, item);
    },
    isFull,
    items: () => [...named.values(), ...others.values()].slice(0, most),
  };
}

interface RowText {
  readonly name: string;
  readonly text: string;
}

/** A row is the same object until it changes; its text is made once and not for every letter that is typed. */
const texts = new WeakMap<object, RowText>();

function textOf({ project, row }: Subject): RowText {
  const before = texts.get(row);
  if (before !== undefined) return before;
  const name = (row.issue_identifier ?? '').toLowerCase();
  const made = { name, text: `${name} ${row.title ?? ''} ${project}`.toLowerCase() };
  texts.set(row, made);
  return made;
}
