// Finds words that STYLE replaces by plain ones, in texts that people read. `npm run words` prints each place; with a path it
// prints those of that file or folder.

import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';

const projectRoot = path.resolve(import.meta.dirname, '..');

interface PlainWord {
  readonly pattern: RegExp;
  readonly say: string;
}

/** Before a noun; "look" and "life" are ordinary words otherwise. */
const determiner = '(?:an?|another|any|each|earlier|every|first|its|last|next|no|one|previous|second|that|the|this)';

const plainWords: readonly PlainWord[] = [
  { pattern: /\bmend(?:s|ed|ing)?\b/gi, say: 'fix' },
  { pattern: /\banew\b/gi, say: 'again' },
  { pattern: /\bwhoever\b/gi, say: 'the caller, the user, the daemon: name who it is' },
  { pattern: /\bnobody\b/gi, say: 'no one, or name who does not' },
  { pattern: /\btold\b/gi, say: 'reported, sent, shown, logged' },
  { pattern: /\bbeside\b/gi, say: 'next to, with, while … runs' },
  { pattern: /\b(?:he|his|him)\b/gi, say: 'they, the user' },
  { pattern: /\btickets?\b/gi, say: 'issue' },
  { pattern: /\bask(?:s|ed|ing)? back\b/gi, say: 'ask further questions' },
  { pattern: /\bin the same time\b/gi, say: 'at the same time' },
  { pattern: /\b(?:gone|go|goes|going) on with\b/gi, say: 'continue' },
  { pattern: new RegExp(`\\b${determiner} looks?\\b(?! (?:like|at|up)\\b)`, 'gi'), say: 'retry, read, check' },
  { pattern: new RegExp(`\\b${determiner} (?:life|lives)\\b(?!-| cycle)`, 'gi'), say: 'daemon, restart' },
  { pattern: /\bso (?:many|much|long)\b(?! as\b)/gi, say: 'at most N, for N: name the number' },
];

export type Area = 'docs' | 'source' | 'test titles';

export interface FoundWord {
  readonly area: Area;
  /** Relative to the project, as `file:line`. */
  readonly place: string;
  readonly word: string;
  readonly say: string;
}

const areas: readonly {
  readonly area: Area;
  readonly files: readonly string[];
  readonly read: (text: string) => string;
}[] = [
  { area: 'docs', files: ['*.md', 'docs/**/*.md'], read: withoutCode },
  {
    area: 'source',
    files: ['{src,demo,dashboard,scripts}/**/*.{ts,tsx,mjs}', 'bin/*', '.ci/*'],
    read: (text) => text,
  },
  { area: 'test titles', files: ['test/**/*.test.ts'], read: titlesOnly },
];

export function findWords(): readonly FoundWord[] {
  return areas.flatMap(({ area, files, read }) =>
    globSync([...files], { cwd: projectRoot })
      .filter((file) => file !== 'scripts/plain-words.ts')
      .toSorted()
      .flatMap((file) =>
        wordsIn(read(readFileSync(path.join(projectRoot, file), 'utf8'))).map(({ line, word, say }) => ({
          area,
          place: `${file}:${line}`,
          word,
          say,
        })),
      ),
  );
}

/** The words of a text that have a plainer one, with their lines. */
export function wordsIn(
  text: string,
): readonly { readonly line: number; readonly word: string; readonly say: string }[] {
  return text
    .split('\n')
    .flatMap((content, index) =>
      plainWords.flatMap(({ pattern, say }) =>
        [...content.matchAll(pattern)].map(([word]) => ({ line: index + 1, word, say })),
      ),
    );
}

/** Only the prose, because code may have to use a word of another specification. Line numbers stay the same. */
function withoutCode(text: string): string {
  const blank = (code: string): string => code.replaceAll(/[^\n]/g, ' ');
  return text.replaceAll(/^```[\s\S]*?^```/gm, blank).replaceAll(/`[^`\n]*`/g, blank);
}

/** The titles of `it(`, `describe(` and their variants, each on its line. */
function titlesOnly(text: string): string {
  return text
    .split('\n')
    .map((line, index, lines) => {
      const opened = /\b(?:it|test|describe)(?:\.\w+)*(?:\([^'"`]*\))?\($/.test((lines[index - 1] ?? '').trimEnd());
      const call = /\b(?:it|test|describe)(?:\.\w+)*\(.*?(?<title>'[^']*'|"[^"]*"|`[^`]*`)/.exec(line);
      const alone = opened ? /^\s*(?<title>'[^']*'|"[^"]*"|`[^`]*`)/.exec(line) : null;
      return (call ?? alone)?.groups?.title ?? '';
    })
    .join('\n');
}

if (import.meta.main) {
  const [wanted = ''] = process.argv.slice(2);
  const found = findWords().filter(({ place }) => place.startsWith(wanted));
  for (const { place, word, say } of found) console.log(`${place}: "${word}" → ${say}`);
  console.log(`${found.length} places`);
}
