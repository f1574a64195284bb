// @module-tag one-way
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { turnEndOf as acpTurnEndOf } from '../../src/agent/acp/turn/turn-end.ts';
import { turnEndOf as claudeTurnEndOf } from '../../src/agent/claude/turn/turn-end.ts';
import { turnEndOf as codexTurnEndOf } from '../../src/agent/codex/turn/turn-end.ts';
import { approvalFor } from '../../src/agent/questions/approval.ts';
import { OpenRequests } from '../../src/agent/questions/open-requests.ts';
import { variableValue } from '../../src/core/text/harmless-line.ts';
import { parseJson } from '../../src/core/text/parse-json.ts';
import { thinEvents } from '../../src/runner/thin-events.ts';
import { readBody } from '../../src/server/read-body.ts';
import { transcriptLine } from '../../src/store/transcripts/transcript-line.ts';
import { plainFields } from '../../src/telemetry/plain-value.ts';
import { commentBody, issueFields, newIssue } from '../../src/tracker/board/issue-fields.ts';
import { narrowDocument } from '../../src/tracker/linear/graphql-tool/narrow-document.ts';
import { openTools } from '../tools/open-tools.ts';

const root = path.join(import.meta.dirname, '../..');
const read = (file: string): string => readFileSync(path.join(root, file), 'utf8');
const cellsOf = (line: string): readonly string[] => line.split(' | ').map((cell) => cell.replace(/^\| | \|$/g, ''));
const rowsOf = (file: string): readonly (readonly string[])[] =>
  read(file)
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .map(cellsOf);

const units: Readonly<Record<string, number>> = { KiB: 1024, MiB: 1024 ** 2 };
const rows = rowsOf('docs/bounds.md').flatMap(([what = '', bound = '', , code = '']) => {
  const [, name, value, file] = /^`(\w+)(?::| =) ([\d_ *]+)` in `(src\/[^`]+)`$/.exec(code) ?? [];
  return name === undefined ? [] : [{ what, bound, name, value: value ?? '', file: file ?? '' }];
});

it('the table of bounds has the name and the value that the code has', () => {
  expect(rows.length).toBe(rowsOf('docs/bounds.md').length - 1);
  for (const { what, bound, name, value, file } of rows) {
    const written = new RegExp(`(?:^|[ {])${name}(?: =|:) ([\\d_ *]+)[;,]?`, 'm').exec(read(file))?.[1];
    expect([what, written]).toEqual([what, value]);
    const [, number = '', unit = ''] = /^([\d,]+)(?: (\w+))?/.exec(bound) ?? [];
    const product = value.split('*').reduce((sum, factor) => sum * Number(factor.replaceAll('_', '')), 1);
    expect([what, Number(number.replaceAll(',', '')) * (units[unit] ?? 1)]).toEqual([what, product]);
  }
});

const text = (length: number): string => 'x'.repeat(length);
const lengthOf = (value: unknown): number => String(value ?? '').length;
const messageOf = (result: object | null): unknown => (result !== null && 'message' in result ? result.message : null);
const noTurn = { error: null, resetsAt: null, now: 0, home: null, login: '' };

/** How much comes through when an agent produces this much, for the bounds that are cheap to reach. 0: it was refused. */
const exercises: Readonly<Record<string, (amount: number) => number | Promise<number>>> = {
  'callsAtOnce in src/tools/limit-calls.ts': async (amount) => {
    const { toolSet } = openTools();
    const calls = Array.from({ length: amount }, () => toolSet.call('report_progress', { text: 'x' }));
    return (await Promise.all(calls)).filter(({ success }) => success).length;
  },
  'longestTitle in src/tracker/board/issue-fields.ts': (amount) => taken(issueFields.title, text(amount)),
  'longestDescriptionBytes in src/tracker/board/issue-fields.ts': (amount) =>
    taken(issueFields.description, text(amount)),
  'longestCommentBytes in src/tracker/board/issue-fields.ts': (amount) => taken(commentBody, text(amount)),
  'mostLabels in src/tracker/board/issue-fields.ts': (amount) => taken(issueFields.labels, names(amount)),
  'mostBlockers in src/tracker/board/issue-fields.ts': (amount) =>
    newIssue.safeParse({ title: 'x', blockerIds: names(amount) }).success ? amount : 0,
  'mostTokens in src/tracker/linear/graphql-tool/narrow-document.ts': (amount) => {
    const query = `{ viewer { ${'id '.repeat(amount - 5)}} }`;
    return Array.isArray(narrowDocument(query, {}, 'p', () => 'n')) ? 0 : amount;
  },
  'mostOpen in src/agent/questions/open-requests.ts': (amount) => {
    const open = new OpenRequests(
      () => {},
      () => {},
    );
    const answers = Array.from({ length: amount }, () => Promise.withResolvers<null>());
    for (const [at, { promise }] of answers.entries())
      if (!open.isFull)
        void open.take(
          `${at}`,
          () => promise,
          () => {},
        );
      else return at;
    return amount;
  },
  'longestRequestChars in src/agent/questions/approval.ts': (amount) => {
    const facts = { kind: 'command', text: 'May I?', detail: [text(amount)], shown: [] } as const;
    return approvalFor('m', {}, facts, () => null).question.detail.length;
  },
  'mostBodyBytes in src/server/read-body.ts': async (amount) =>
    lengthOf(await readBody(new Request('http://localhost', { method: 'POST', body: text(amount) }))),
  'mostJsonDepth in src/core/text/parse-json.ts': (amount) => {
    try {
      parseJson('['.repeat(amount) + ']'.repeat(amount));
      return amount;
    } catch {
      return 0;
    }
  },
  'mostASecond in src/runner/thin-events.ts': (amount) => {
    let sent = 0;
    const report = thinEvents(() => {
      sent += 1;
    });
    for (let time = 0; time < amount; time++) report({ name: 'notification', at: 0, pid: null, summary: '' });
    return sent;
  },
  'longestLine in src/store/transcripts/transcript-line.ts': (amount) =>
    transcriptLine({ seq: 1, at: 0, run: 'r', name: 'n', pid: null, summary: '', payload: text(amount) } as never)
      .length,
  'maxTextLength in src/telemetry/plain-value.ts': (amount) =>
    lengthOf(String(plainFields({ text: text(amount) }, 'info').text).replaceAll(/[^x]/g, '')),
  'longestMessage in src/agent/codex/turn/turn-end.ts': (amount) =>
    lengthOf(
      messageOf(codexTurnEndOf('turn/completed', { turn: { status: 'completed' } }, text(amount), noTurn as never, {})),
    ),
  'longestMessage in src/agent/claude/turn/turn-end.ts': (amount) =>
    lengthOf(messageOf(claudeTurnEndOf({ subtype: 'success', is_error: false, result: text(amount) }, noTurn))),
  'longestMessage in src/agent/acp/turn/turn-end.ts': (amount) =>
    lengthOf(messageOf(acpTurnEndOf({ stopReason: 'end_turn' }, { ...noTurn, lastMessage: text(amount) }))),
  'longestValue in src/core/text/harmless-line.ts': (amount) => variableValue(text(amount)).length,
};

function names(amount: number): readonly string[] {
  return Array.from({ length: amount }, (_, at) => `n${at}`);
}

function taken(
  schema: { safeParse(value: unknown): { success: boolean; data?: unknown } },
  value: string | readonly string[],
): number {
  return schema.safeParse(value).success ? value.length : 0;
}

it.each(Object.keys(exercises))('a bound holds: %s', async (key) => {
  const row = rows.find(({ name, file }) => `${name} in ${file}` === key);
  const most = (row?.value ?? '').split('*').reduce((sum, factor) => sum * Number(factor.replaceAll('_', '')), 1);
  expect(await exercises[key]?.(most + 1)).toBeLessThanOrEqual(most);
  if (!key.startsWith('longestLine')) expect(await exercises[key]?.(most)).toBe(most);
});

it('every row of the table of attacks names tests that exist', () => {
  const attacks = read('SECURITY.md').split('### Attacks and what stops them')[1]?.split('\n### ')[0] ?? '';
  const named = attacks
    .split('\n')
    .filter((line) => /^\| (?!attacker|-)/.test(line))
    .map((line) => cellsOf(line));
  expect(named.length).toBeGreaterThan(25);
  for (const [attacker = '', , , tests = ''] of named) {
    const files = [...tests.matchAll(/`([^`]+)`/g)].map(([, test = '']) =>
      test.includes('/') ? `test/${test}.test.ts` : `test/security/${test}.test.ts`,
    );
    expect([attacker, files.length > 0, files.filter((file) => !existsSync(path.join(root, file)))]).toEqual([
      attacker,
      true,
      [],
    ]);
  }
});
