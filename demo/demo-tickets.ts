/** One ticket of the demo. The script is what the stand-in agent acts out; a real agent would read the description alone. */
export interface DemoTicket {
  readonly identifier: string;
  readonly title: string;
  readonly description: string;
  readonly priority: number;
  readonly blockedBy: readonly string[];
  readonly script: readonly string[];
}

/** How long one of the agents works and listens to a person, where somebody watches. */
const listenMs = 120_000;

/** How long an account of the demo is without quota: long enough to be seen, and to need the other account. */
const noQuotaMs = 6_000;

/**
 * Ten tickets: four priorities, one that waits for another, one whose first run fails, one that runs out of quota on both
 * accounts, one that asks a person, and one that works for long and writes down what it is told. They wait as long as it
 * takes to watch them; `baton demo --once` is in haste (`agent/rehearsal/haste.ts`).
 */
export const demoTickets: readonly DemoTicket[] = [
  ticket(
    'WORDS-1',
    1,
    'Describe the project in the README',
    'Say in one sentence what the library is for. The agent takes two minutes; what you tell it meanwhile ("Steer") it writes down too, and "go on" ends its wait.',
    [
      'append README.md',
      '|',
      '| It exists so that nobody writes these six lines again.',
      `listen ${listenMs} README.md`,
    ],
  ),
  ticket('WORDS-2', 1, 'Add slugify', 'Turn a title into a part of an address: lower case, dashes, nothing else.', [
    ...addFunction(
      'slugify',
      "text.toLowerCase().replace(/[^a-z0-9]+/g, '-').replace(/^-|-$/g, '')",
      "'One ticket, one agent!'",
      "'one-ticket-one-agent'",
    ),
  ]),
  ticket('WORDS-3', 2, 'Add truncate', 'Cut a text to a length and end it with an ellipsis.', [
    ...addFunction(
      'truncate',
      "text.length <= 12 ? text : text.slice(0, 11).concat('…')",
      "'One ticket, one agent'",
      "'One ticket,…'",
    ),
  ]),
  ticket('WORDS-4', 2, 'Add countWords', 'Count the words of a text. The test runner is not there on the first try.', [
    'first fail The test runner could not be started: connection reset',
    ...addFunction('countWords', 'text.split(/\\s+/).filter(Boolean).length', "' one  ticket '", '2'),
  ]),
  ticket(
    'WORDS-5',
    1,
    'Add permalink on top of slugify',
    'An address for a title. Needs slugify, so it waits for WORDS-2.',
    [
      'write src/permalink.js',
      "| import { slugify } from '../src/cli/demo/slugify.js';",
      '|',
      '| /** The address of a title. */',
      '| export function permalink(title) {',
      "|   return '/p/'.concat(slugify(title));",
      '| }',
      ...testFile('permalink', "'One ticket'", "'/p/one-ticket'"),
    ],
    ['WORDS-2'],
  ),
  ticket('WORDS-6', 4, 'Add reverse', 'Reverse a text by its characters.', [
    ...addFunction('reverse', "[...text].reverse().join('')", "'baton'", "'notab'"),
  ]),
  ticket('WORDS-7', 4, 'Add initials', 'The first letters of the words, in capitals.', [
    ...addFunction(
      'initials',
      "text.split(/\\s+/).map((word) => word[0].toUpperCase()).join('')",
      "'one ticket'",
      "'OT'",
    ),
  ]),
  ticket('WORDS-8', 4, 'Ignore editor files', 'Keep the files of editors out of the repository.', [
    'write .gitignore',
    '| .vscode/',
    '| *.swp',
  ]),
  ticket('WORDS-9', 3, 'Add camelCase', 'Join words with capitals. The quota of each account runs out on the way.', [
    ...addFunction(
      'camelCase',
      'text.toLowerCase().replace(/ +(.)/g, (_, letter) => letter.toUpperCase())',
      "'One ticket'",
      "'oneTicket'",
    ),
    `quota ${noQuotaMs} 2`,
  ]),
  ticket(
    'WORDS-10',
    2,
    'Add shout',
    'Capitals and an exclamation mark. The agent asks a person first; a stand-in that follows a script does the same whatever the answer.',
    [
      'ask Is one exclamation mark enough?',
      '| one is enough',
      '| one is plenty',
      ...addFunction('shout', "text.toUpperCase().concat('!')", "'baton'", "'BATON!'"),
    ],
  ),
];

/** What every ticket has in common: read, do the work, test, commit, hand over for review. */
function ticket(
  identifier: string,
  priority: number,
  title: string,
  description: string,
  work: readonly string[],
  blockedBy: readonly string[] = [],
): DemoTicket {
  const script = [
    'say Reading the ticket and the code',
    'wait 4000',
    ...work,
    'spend 1200',
    'wait 4000',
    'run node --test',
    'wait 2000',
    `commit ${identifier}: ${title}`,
    'spend 2300',
    'comment The work is committed and its tests pass.',
    'move review',
  ];
  return { identifier, title, description, priority, blockedBy, script };
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
    `| import { ${name} } from '../src/cli/src/${name}.js';`,
    '|',
    `| test('${name}', () => {`,
    `|   assert.equal(${name}(${given}), ${expected});`,
    '| });',
  ];
}
