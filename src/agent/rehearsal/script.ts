/**
 * The script of a rehearsal: a fenced block in the prompt, one step a line.
 *
 *     ```rehearsal
 *     say Reading the code
 *     move In Progress
 *     write src/slug.js
 *     | export const slug = (text) => text.toLowerCase();
 *     run npm test
 *     commit Add slug
 *     move Done
 *     ```
 *
 * Lines that begin with `|` are the content of the `write` or `append` above them. `first` before a step limits it to
 * an issue's first run; a line `next turn` leaves the rest to the next turn of the same session. The scripts are written by the people who run the demo or a test, never by an untrusted ticket:
 * `run` starts programs.
 */
export type Step =
  | {
      readonly verb: 'say' | 'move' | 'comment' | 'commit' | 'push' | 'run' | 'fail' | 'ask';
      readonly text: string;
      readonly firstRunOnly: boolean;
    }
  | { readonly verb: 'wait' | 'spend'; readonly amount: number; readonly firstRunOnly: boolean }
  | {
      readonly verb: 'write' | 'append';
      readonly file: string;
      readonly content: string;
      readonly firstRunOnly: boolean;
    };

const textVerbs = ['say', 'move', 'comment', 'commit', 'push', 'run', 'fail', 'ask'] as const;
const amountVerbs = ['wait', 'spend'] as const;
const fileVerbs = ['write', 'append'] as const;

/** The steps in a prompt by turn, null when it has no script. Throws an Error that names a line it does not understand. */
export function parseScript(prompt: string): Step[][] | null {
  const block = /^```rehearsal\n(?<body>.*?)^```$/ms.exec(prompt.replaceAll('\r\n', '\n'))?.groups?.body;
  if (block === undefined) return null;
  const turns: Step[][] = [[]];
  const lines = block.split('\n');
  for (let at = 0; at < lines.length; at += 1) {
    const line = (lines[at] ?? '').trim();
    if (line === '') continue;
    const content: string[] = [];
    while (lines[at + 1]?.startsWith('|')) {
      at += 1;
      content.push((lines[at] ?? '').replace(/^\| ?/, ''));
    }
    if (line === 'next turn') turns.push([]);
    else turns.at(-1)?.push(parseStep(line, content));
  }
  return turns;
}

function parseStep(line: string, content: readonly string[]): Step {
  const { first, verb = '', text = '' } = /^(?<first>first )?(?<verb>\S+)(?: (?<text>.*))?$/.exec(line)?.groups ?? {};
  const firstRunOnly = first !== undefined;
  if (isOneOf(verb, textVerbs)) return { verb, text, firstRunOnly };
  if (isOneOf(verb, fileVerbs))
    return { verb, file: text, content: content.map((each) => `${each}\n`).join(''), firstRunOnly };
  if (isOneOf(verb, amountVerbs) && /^\d+$/.test(text)) return { verb, amount: Number(text), firstRunOnly };
  throw new Error(`the script has a line that is no step: ${line}`);
}

function isOneOf<Name extends string>(name: string, names: readonly Name[]): name is Name {
  return (names as readonly string[]).includes(name);
}
