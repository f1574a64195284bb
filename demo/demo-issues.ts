import type { Board } from '../src/tracker/board/board.ts';

/** One issue of the demo. The scripted agent acts out the script; a real agent would read the description alone. */
export interface DemoIssue {
  readonly identifier: string;
  readonly title: string;
  readonly description: string;
  readonly priority: number;
  readonly blockedBy: readonly string[];
  readonly script: readonly string[];
  /** What the agents of its phases and their judge do, by phase or `judge`; empty: it begins as `ready`. */
  readonly phases: Readonly<Record<string, readonly string[]>>;
}

/** Words with which a change goes back. */
export interface SendBack {
  readonly note: string;
  readonly comments: readonly { readonly path: string; readonly line: number; readonly text: string }[];
}

/** What a person does with the change of an issue; all but `merge` are left to a person who watches. */
export type PersonsPart = 'merge' | 'approve' | SendBack;

const approved = 'WORDS-3';
const sentBack = 'WORDS-6';
const sendBack: SendBack = {
  note: 'Please do not tear emoji apart.',
  comments: [{ path: 'src/reverse.js', line: 2, text: 'Spread the text instead of splitting it.' }],
};

/** A person who files an issue also reviews its change. */
export function personsPart(identifier: string): PersonsPart {
  if (identifier === sentBack) return sendBack;
  return identifier === approved || !demoIssues.some((issue) => issue.identifier === identifier) ? 'approve' : 'merge';
}

/** How long one of the agents works and listens to a person, when a person watches. */
const listenMs = 120_000;

/** How long an account of the demo is without quota: long enough to be seen, and to need the other account. */
const noQuotaMs = 6_000;

/**
 * Ten issues: four priorities, one that waits for another, one whose first run fails, one that runs out of quota on
 * both accounts, one that asks a person, one that works for long and writes down your messages, one whose change a
 * person approves, one whose change a person sends back, and two that go through the pipeline, on different paths. They take long enough to be watched; `baton demo --once`
 * runs faster (`agent/rehearsal/speed.ts`).
 */
export const demoIssues: readonly DemoIssue[] = [
  demoIssue(
    'WORDS-1',
    1,
    'Describe the project in the README',
    'Say in one sentence what the library is for. The agent works for two minutes. It also writes down every message that you send it ("Steer"); the message "go on" ends its wait.',
    [
      'append README.md',
      '|',
      '| It exists so that no one writes these six lines again.',
      `listen ${listenMs} README.md`,
    ],
  ),
  demoIssue('WORDS-2', 1, 'Add slugify', 'Turn a title into a part of an address: lower case, dashes, nothing else.', [
    ...addFunction(
      'slugify',
      "text.toLowerCase().replace(/[^a-z0-9]+/g, '-').replace(/^-|-$/g, '')",
      "'One issue, one agent!'",
      "'one-issue-one-agent'",
    ),
  ]),
  demoIssue(
    'WORDS-3',
    2,
    'Add truncate',
    'Cut a text to a length and end it with an ellipsis. You review its change: read it, then approve and merge it.',
    [
      ...addFunction(
        'truncate',
        "text.length <= 12 ? text : text.slice(0, 11).concat('…')",
        "'One issue, one agent'",
        "'One issue, …'",
      ),
    ],
  ),
  demoIssue('WORDS-4', 2, 'Add countWords', 'Count the words of a text. The test runner fails on the first try.', [
    'first fail The test runner could not be started: connection reset',
    ...addFunction('countWords', 'text.split(/\\s+/).filter(Boolean).length', "' one  issue '", '2'),
  ]),
  demoIssue(
    'WORDS-5',
    1,
    'Add permalink on top of slugify',
    'An address for a title. Needs slugify, so it waits for WORDS-2.',
    [
      'write src/permalink.js',
      "| import { slugify } from './slugify.js';",
      '|',
      '| /** The address of a title. */',
      '| export function permalink(title) {',
      "|   return '/p/'.concat(slugify(title));",
      '| }',
      ...testFile('permalink', "'One issue'", "'/p/one-issue'"),
    ],
    ['WORDS-2'],
  ),
  demoIssue(
    'WORDS-6',
    3,
    'Add reverse',
    'Reverse a text by its characters. You review its change. It tears emoji apart, so send it back with a comment.',
    addFunction('reverse', "text.split('').reverse().join('')", "'baton'", "'notab'"),
    [],
    addFunction('reverse', "[...text].reverse().join('')", "'baton 🎉'", "'🎉 notab'"),
  ),
  {
    ...demoIssue(
      'WORDS-7',
      4,
      'Add initials',
      'The first letters of the words, in capitals. It goes through every phase, and a judge sends its design back once.',
      addFunction(
        'initials',
        "text.split(/\\s+/).map((word) => word[0].toUpperCase()).join('')",
        "'one issue'",
        "'OI'",
      ),
    ),
    phases: {
      research: phaseSteps('research', ['Findings', 'No function of the library takes a text apart into words yet.']),
      architecture: [
        ...phaseSteps('architecture', ['Design', 'Split at white space, take the first letter of each word.']),
        'every turn',
        ...phaseSteps('architecture', [
          'Design',
          'Split at white space. Words that begin with an emoji keep it whole.',
        ]),
      ],
      judge: ['say Reading the design', 'wait 2000', 'judge begin with an emoji', 'spend 700'],
      grooming: phaseSteps('grooming', ['Acceptance criteria', 'The initials of "one issue" are "OI".']),
    },
  },
  {
    ...demoIssue(
      'WORDS-8',
      4,
      'Ignore editor files',
      'Keep the files of editors out of the repository. Its first phase finds that it needs no others.',
      ['write .gitignore', '| .vscode/', '| *.swp'],
    ),
    phases: { research: phaseSteps('research', ['Findings', 'Two lines in one file.'], ' > ready') },
  },
  demoIssue('WORDS-9', 2, 'Add camelCase', 'Join words with capitals. The quota of each account runs out on the way.', [
    ...addFunction(
      'camelCase',
      'text.toLowerCase().replace(/ +(.)/g, (_, letter) => letter.toUpperCase())',
      "'One issue'",
      "'oneIssue'",
    ),
    `quota ${noQuotaMs} 2`,
  ]),
  demoIssue(
    'WORDS-10',
    2,
    'Add shout',
    'Capitals and an exclamation mark. The agent asks a person first. It follows a script, so it does the same for every answer.',
    [
      'ask Shall I start, or read all of the code first?',
      '| start',
      '| read the code first',
      ...addFunction('shout', "text.toUpperCase().concat('!')", "'baton'", "'BATON!'"),
    ],
  ),
];

/** The steps that all issues share: read, do the work, test, commit. What is committed goes to review. */
function demoIssue(
  identifier: string,
  priority: number,
  title: string,
  description: string,
  work: readonly string[],
  blockedBy: readonly string[] = [],
  rework: readonly string[] = [],
): DemoIssue {
  const script = [
    'say Reading the issue and the code',
    'wait 4000',
    ...work,
    'spend 1200',
    'wait 4000',
    'run node run-tests.js',
    'wait 2000',
    `commit ${identifier}: ${title}`,
    'spend 2300',
    `propose ${title}`,
    '| The change is small and has a test. All tests pass.',
    'say The work is committed, and its tests pass.',
    ...laterTurns(identifier, rework),
  ];
  return { identifier, title, description, priority, blockedBy, script, phases: {} };
}

/** Writes the artifact of a phase, with one section, and completes the phase. */
function phaseSteps(phase: string, [section, text]: readonly [string, string], skip = ''): readonly string[] {
  return [
    'say Reading the issue and the code',
    'wait 2000',
    `write .baton/${phase}.md`,
    `| # ${section}`,
    '|',
    `| ${text}`,
    'spend 800',
    `complete ${text}${skip}`,
  ];
}

/** What the agent does whenever its change comes back: it writes the words down, and does the work that is in its script. */
export function laterTurns(identifier: string, rework: readonly string[] = []): readonly string[] {
  const file = `docs/reviews/${identifier}.md`;
  const limit = 'I am a script, so that is all I can do; a real agent would do what you ask.';
  return [
    'every turn',
    'say Reading what the review says',
    'wait 3000',
    `quote ${file}`,
    ...rework,
    'spend 900',
    'wait 2000',
    'run node run-tests.js',
    `commit Note the review of ${identifier}`,
    `say Your words are in ${file}. ${rework.length === 0 ? limit : 'I did the work again as you asked.'}`,
  ];
}

function addFunction(name: string, body: string, given: string, expected: string): string[] {
  return [
    `write src/${name}.js`,
    `| export function ${name}(text) {`,
    `|   return ${body};`,
    '| }',
    ...testFile(name, given, expected),
  ];
}

function testFile(name: string, given: string, expected: string): string[] {
  return [
    `write test/${name}.test.js`,
    "| import assert from 'node:assert/strict';",
    "| import { test } from 'node:test';",
    `| import { ${name} } from '../src/${name}.js';`,
    '|',
    `| test('${name}', () => {`,
    `|   assert.equal(${name}(${given}), ${expected});`,
    '| });',
  ];
}

const author = { kind: 'person', name: 'baton demo' } as const;

/** Files the issues on the board. Each has a key, so that a continued demo files none of them twice. */
export async function fileIssues(board: Board): Promise<void> {
  const ids = new Map<string, string>();
  for (const { identifier, title, description, priority, blockedBy, script, phases } of demoIssues) {
    const blocks = Object.entries({ '': script, ...phases }).map(
      ([part, steps]) => `\`\`\`rehearsal${part === '' ? '' : ` ${part}`}\n${steps.join('\n')}\n\`\`\``,
    );
    const { issue } = await board.create(
      {
        title,
        priority,
        description: [description, ...blocks].join('\n\n'),
        labels: blocks.length > 1 ? ['phase:research'] : [],
        blockerIds: blockedBy.map((blocker) => ids.get(blocker) ?? blocker),
        clientKey: identifier,
      },
      { author },
    );
    ids.set(identifier, issue.id);
  }
}
