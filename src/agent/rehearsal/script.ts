/**
 * The script of a rehearsal: a fenced block in the prompt, one step a line.
 *
 *     ```rehearsal
 *     say Reading the code
 *     ask Which colour?
 *     | red
 *     | blue
 *     move In Progress
 *     write src/slug.js
 *     | export const slug = (text) => text.toLowerCase();
 *     run npm test
 *     commit Add slug
 *     move Done
 *     ```
 *
 * Lines that begin with `|` belong to the step above them: the content of `write` and `append`, the options of `ask`,
 * the description that `propose TITLE` gives the pull request.
 * A phase agent plays the block that begins with ```rehearsal and the name of its phase, and the judge of an artifact the block
 * ```rehearsal judge. There `complete SUMMARY` completes the phase, with `complete SUMMARY > PHASE` it skips to another one, and
 * `judge TEXT` approves an artifact that has the text, and rejects any other. A planner plays the block ```rehearsal planner, where
 * `plan SUMMARY` splits its issue into the subtasks below it, one title a line; `TITLE < 1 2` waits for the first and the second.
 * The agent of an intake plays the block ```rehearsal intake, a scanner ```rehearsal scanner, where `issues` proposes the titles below it; `TITLE = NAME` calls the
 * issue NAME its duplicate, `TITLE # ONE TWO` gives it these labels. A learner plays the block ```rehearsal learner, where `learnings` proposes the texts below it, each
 * `TEXT < 1 2` from the lines with these numbers; `TEXT < 1 2 = L1` replaces the learning L1.
 * `first` before a step limits it to an issue's first run; `try` lets the script continue when the step cannot be done;
 * a line `next turn` leaves the rest to the next turn of the same session, `every turn` to all later turns. `quote FILE`
 * appends the words of people in the prompt to the file. `listen MS FILE` waits MS milliseconds for
 * messages of people and appends them to the file, if one is named; a person ends it with `go on`. Some steps end the
 * turn:
 *
 * - `fail WHY`, `auth WHY` and `context KIND` (`token` or `context`) as failures of these kinds;
 * - `quota MS TIMES`: the quota is used up and is back after MS milliseconds; the step ends TIMES turns this way
 *   (default 1). More than one needs a thread that is remembered (`memory.ts`);
 * - `idle TEXT`: says the text and ends the turn successfully. Every later turn does the same.
 *
 * The scripts are written by the people who run the demo or a test, never by an untrusted issue: `run` starts programs.
 */
export type Step = { readonly firstRunOnly: boolean; readonly isTried?: true } & (
  | { readonly verb: (typeof textVerbs)[number]; readonly text: string }
  | { readonly verb: (typeof amountVerbs)[number]; readonly amount: number }
  | { readonly verb: (typeof fileVerbs)[number]; readonly file: string; readonly content: string }
  | { readonly verb: 'ask'; readonly text: string; readonly options: readonly string[] }
  | { readonly verb: 'propose'; readonly title: string; readonly body: string }
  | { readonly verb: (typeof listVerbs)[number]; readonly text: string; readonly lines: readonly string[] }
  | { readonly verb: 'listen'; readonly amount: number; readonly file: string | null }
  | { readonly verb: 'quota'; readonly backAfterMs: number; readonly times: number }
  | { readonly verb: 'context'; readonly kind: 'token' | 'context' }
);

const textVerbs = [
  ...(['say', 'move', 'comment', 'commit', 'push', 'run', 'fail', 'auth', 'idle', 'quote'] as const),
  ...(['complete', 'judge'] as const),
] as const;
const amountVerbs = ['wait', 'spend'] as const;
const fileVerbs = ['write', 'append'] as const;
const listVerbs = ['plan', 'issues', 'learnings'] as const;

const block = /^```rehearsal(?: (?<part>\S+))?\n(?<body>.*?)^```$/gms;

/** The text of the script in a prompt, for this part of the pipeline or for a worker; null when it has none. */
export function findScript(prompt: string, part: string | null = null): string | null {
  const found = [...withPlainLineEnds(prompt).matchAll(block)];
  return found.find(({ groups }) => (groups?.part ?? null) === part)?.groups?.body ?? null;
}

/** The part of the pipeline that an agent with this environment plays; null for a worker. */
export function partOf(env: Readonly<Record<string, string | undefined>>): string | null {
  if (env.BATON_ROLE === 'phase_judge') return 'judge';
  const { BATON_ROLE: role } = env;
  if (role === 'planner' || role === 'intake' || role === 'scanner' || role === 'learner') return role;
  return env.BATON_ROLE === 'phase' ? (env.BATON_PHASE ?? null) : null;
}

/** The prompt without its scripts. */
export function withoutScript(prompt: string): string {
  return withPlainLineEnds(prompt).replace(block, '');
}

/** The steps of a script by turn. Throws an Error that names a line it does not understand. */
export function parseScript(script: string): Step[][] {
  const turns: Step[][] = [[]];
  const lines = script.split('\n');
  for (let at = 0; at < lines.length; at += 1) {
    const line = (lines[at] ?? '').trim();
    if (line === '') continue;
    const content: string[] = [];
    while (lines[at + 1]?.startsWith('|')) {
      at += 1;
      content.push((lines[at] ?? '').replace(/^\| ?/, ''));
    }
    if (line === 'next turn' || line === everyTurn) turns.push([]);
    else turns.at(-1)?.push(parseStep(line, content));
  }
  return turns;
}

const everyTurn = 'every turn';

/** The steps of a turn; undefined after the last one. */
export function stepsOf(script: string, turn: number): Step[] | undefined {
  const turns = parseScript(script);
  return turns[turn] ?? (script.split('\n').some((line) => line.trim() === everyTurn) ? turns.at(-1) : undefined);
}

const stepLine = /^(?<first>first )?(?<tried>try )?(?<verb>\S+)(?: (?<text>.*))?$/;

function parseStep(line: string, content: readonly string[]): Step {
  const { first, tried, verb = '', text = '' } = stepLine.exec(line)?.groups ?? {};
  const step = readStep(verb, text, content, first !== undefined);
  if (step === null) throw new Error(`the rehearsal script has an unknown step: ${line}`);
  return tried === undefined ? step : { ...step, isTried: true };
}

function readStep(verb: string, text: string, content: readonly string[], firstRunOnly: boolean): Step | null {
  if (isOneOf(verb, listVerbs)) return { verb, text, lines: content, firstRunOnly };
  if (isOneOf(verb, textVerbs)) return { verb, text, firstRunOnly };
  if (isOneOf(verb, fileVerbs))
    return { verb, file: text, content: content.map((each) => `${each}\n`).join(''), firstRunOnly };
  if (isOneOf(verb, amountVerbs) && /^\d+$/.test(text)) return { verb, amount: Number(text), firstRunOnly };
  if (verb === 'ask' && text !== '') return { verb, text, options: content, firstRunOnly };
  if (verb === 'propose' && text !== '') return { verb, title: text, body: content.join('\n'), firstRunOnly };
  if (verb === 'context' && (text === '' || text === 'context')) return { verb, kind: 'context', firstRunOnly };
  if (verb === 'context' && text === 'token') return { verb, kind: text, firstRunOnly };
  const listen = /^(?<ms>\d+)(?: (?<file>.+))?$/.exec(text)?.groups;
  if (verb === 'listen' && listen !== undefined)
    return { verb, amount: Number(listen.ms), file: listen.file ?? null, firstRunOnly };
  const quota = /^(?<ms>\d+)(?: (?<times>\d+))?$/.exec(text)?.groups;
  if (verb === 'quota' && quota !== undefined)
    return { verb, backAfterMs: Number(quota.ms), times: Number(quota.times ?? 1), firstRunOnly };
  return null;
}

function withPlainLineEnds(text: string): string {
  return text.replaceAll('\r\n', '\n');
}

function isOneOf<Name extends string>(name: string, names: readonly Name[]): name is Name {
  return (names as readonly string[]).includes(name);
}
