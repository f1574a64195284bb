/** What a person pressed. `text` was typed; a `paste` was not typed, and is never a command. */
export type Key = { readonly name: 'text' | 'paste'; readonly text: string } | { readonly name: NamedKey };

type NamedKey = (typeof sequences)[keyof typeof sequences] | (typeof controls)[keyof typeof controls] | 'escape';

interface Decoded {
  readonly keys: readonly Key[];
  /** The beginning of a sequence whose end has not arrived. */
  readonly rest: string;
}

const sequences = {
  A: 'up',
  B: 'down',
  C: 'right',
  D: 'left',
  H: 'home',
  F: 'end',
  Z: 'back_tab',
  '1~': 'home',
  '3~': 'delete',
  '4~': 'end',
  '5~': 'page_up',
  '6~': 'page_down',
  '7~': 'home',
  '8~': 'end',
} as const;

const controls = {
  '\r': 'enter',
  '\n': 'enter',
  '\t': 'tab',
  '\u007f': 'backspace',
  '\b': 'backspace',
  '\u0001': 'home',
  '\u0003': 'interrupt',
  '\u0005': 'end',
  '\u000c': 'redraw',
  '\u0015': 'clear',
  '\u0017': 'word',
} as const;

export const pasteBegins = '\u001b[200~';
export const pasteEnds = '\u001b[201~';

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what a terminal sends.
const sequence = /^\u001b(?:\[|O)(?<body>[0-?]*[ -/]*[@-~])/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what a terminal sends.
const begunSequence = /^\u001b(?:(?:\[|O)[0-?]*[ -/]*)?$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what a terminal sends.
const typed = /^[^\u0000-\u001f\u007f-\u009f]+/;

/**
 * Decodes the keys in the input of a terminal. `isAll`: no more input follows, so a lone escape is the Escape key.
 * Unknown sequences are skipped.
 */
export function decodeKeys(sent: string, isAll: boolean): Decoded {
  const keys: Key[] = [];
  let rest = sent;
  while (rest !== '') {
    const { key, length } = firstKey(rest, isAll);
    if (length === 0) return { keys, rest };
    if (key !== null) keys.push(key);
    rest = rest.slice(length);
  }
  return { keys, rest };
}

/** The length is 0 when the end of the sequence has not arrived. */
function firstKey(sent: string, isAll: boolean): { readonly key: Key | null; readonly length: number } {
  if (sent.startsWith(pasteBegins)) return pasted(sent, isAll);
  const text = typed.exec(sent)?.[0];
  if (text !== undefined) {
    // One key per character, so that each can be a command.
    const first = String.fromCodePoint(text.codePointAt(0) ?? 0);
    return { key: { name: 'text', text: first }, length: first.length };
  }
  if (!sent.startsWith('\u001b')) return { key: named(controls, sent[0] ?? ''), length: 1 };
  if (begunSequence.test(sent) && !isAll) return { key: null, length: 0 };
  const found = sequence.exec(sent);
  if (found === null) return { key: { name: 'escape' }, length: 1 };
  // Held modifiers, as in `1;5A`, are ignored.
  const body = (found.groups?.body ?? '').replace(/^1?;\d+(?=[A-Z]$)/, '').replace(/;\d+~$/, '~');
  return { key: named(sequences, body), length: found[0].length };
}

function pasted(sent: string, isAll: boolean): { readonly key: Key | null; readonly length: number } {
  const end = sent.indexOf(pasteEnds);
  if (end === -1) return { key: null, length: isAll ? sent.length : 0 };
  const text = sent.slice(pasteBegins.length, end);
  return { key: { name: 'paste', text }, length: end + pasteEnds.length };
}

function named(keys: Readonly<Record<string, NamedKey>>, sent: string): Key | null {
  const name = Object.hasOwn(keys, sent) ? keys[sent] : undefined;
  return name === undefined ? null : { name };
}
