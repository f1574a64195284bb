// The tables of docs/configuration.md, from the rows that read the workflow file.

import { agentBackends } from '../src/agent/backends.ts';
import { knownPrices } from '../src/core/account/known-prices.ts';
import type { ProviderKey } from '../src/core/tracker-profile.ts';
import { trackerAdapters } from '../src/tracker/adapters.ts';
import { type SettingRow, settingRows } from '../src/workflow/table/setting-table.ts';
import { typeOf, wordList } from '../src/workflow/table/setting-types.ts';

const rows = settingRows({ trackers: trackerAdapters, backends: agentBackends });
const file = 'docs/configuration.md';

/** One table of the page for each heading. The first cell of a row is the key. */
export const configurationTables = [
  ...[
    ['## `tracker`', 'tracker', 'tracker.states'],
    ['## `board`', 'board'],
    ['## `project` and `store`', 'project', 'store'],
    ['## `polling`', 'polling', 'polling.budget'],
    ['## `workspace`', 'workspace'],
    ['## `hooks`', 'hooks'],
    ['## `agent`', 'agent', 'agent.context_recovery'],
    ['## `review`', 'review'],
    ['## `judge`', 'judge'],
    ['## `pipeline`', 'pipeline'],
    ['## `planner`', 'planner'],
    ['## `intake`', 'intake'],
    ['## `scanner`', 'scanner'],
    ['## `learner`', 'learner'],
    ['## `setup`', 'setup'],
    ['## `second_prompt`', 'second_prompt'],
    ['## `limits`', 'limits'],
    ['## `server` and `observability`', 'server', 'observability'],
    ['## `notify`', 'notify'],
    ...agentBackends
      .flatMap(({ settings }) => settings?.section ?? [])
      .filter((section) => section !== 'agent')
      .map((section) => [`## \`${section}\``, section]),
  ].map(([heading = '', ...sections]) => ({
    file,
    heading,
    rows: tableOf(
      ({ key, unsupported }) => unsupported === undefined && sections.includes(key.slice(0, key.lastIndexOf('.'))),
    ),
  })),
  {
    file,
    heading: '### Prices',
    rows: Object.entries(knownPrices).map(([model, { input, cachedInput, output }]) => [
      model,
      ...[input, cachedInput ?? input, output].map(String),
    ]),
  },
  { file, heading: '### Jobs', rows: tableOf(({ key }) => key.startsWith('polling.jobs.')) },
  ...trackerAdapters.map(({ kind, keys }) => ({
    file,
    heading: `### \`kind: ${kind}\``,
    rows: keys.map(providerCells),
  })),
  {
    file,
    heading: '## Known, but without effect yet',
    rows: tableOf(({ unsupported }) => unsupported !== undefined),
  },
];

function tableOf(isWanted: (row: SettingRow) => boolean): string[][] {
  return rows.filter(isWanted).map((row) => {
    const { allowed, choices = row.offered } = typeOf(row.type);
    const type = choices === undefined ? shortened(allowed) : wordList(choices.map(code));
    return [row.key, type, defaultCell(row), row.description, effectCell(row)];
  });
}

/** The name of a type, short enough for a column. The page text has examples of lists and maps. */
function shortened(allowed: string): string {
  return allowed.replace(/^(?:an?|the) /, '').replace(/, such as `[[{].*$/, '');
}

function defaultCell(row: SettingRow): string {
  if (row.defaultText !== undefined) return row.defaultText;
  return row.default === null ? 'none' : code(inYaml(row.default));
}

function providerCells(key: ProviderKey): string[] {
  const type = { string: 'text', path: 'path', boolean: 'true or false' }[key.type];
  const variable = key.fallbackEnv === undefined ? [] : [`the variable ${code(key.fallbackEnv)}`];
  const last = key.default === undefined ? (key.defaultText ?? []) : code(String(key.default));
  const byDefault = [variable, last].flat().join(', else ') || 'none';
  const secret = key.secret === true ? ', secret' : '';
  return [`tracker.provider.${key.name}`, `${type}${secret}`, byDefault, key.description, effectCell(key)];
}

function effectCell({ takesEffect, guard }: Pick<SettingRow, 'takesEffect' | 'guard'>): string {
  return { open: takesEffect, guarded: `${takesEffect}, guarded`, guarded_upwards: `${takesEffect}, guarded upwards` }[
    guard
  ];
}

function code(text: string): string {
  return `\`${text}\``;
}

/** A value in YAML. */
function inYaml(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(inYaml).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return String(value);
  return `{${Object.entries(value)
    .map(([name, each]) => `${name}: ${inYaml(each)}`)
    .join(', ')}}`;
}
