import { describe, expect, it } from 'vitest';
import type { Opinion } from '../../src/core/pull/judge.ts';
import type { ToolContext } from '../../src/tools/tool.ts';
import { errorIn, openTools, trackerThat } from './open-tools.ts';

const refuse = () => trackerThat(() => Promise.reject(new Error('no judge asks the tracker for anything else')));
const finding = { problem: 'It is wrong.', wanted: 'Make it right.' };

describe('the tools of a role', () => {
  const usage = { onUsage: () => {} };
  const judge = { onOpinion: () => {}, ...usage };

  // @conforms 4.133, 4.142, 4.143, 4.132, 4.140
  it.each<[string, Partial<ToolContext>, readonly string[]]>([
    ['a judge', judge, ['get_issue', 'approve_pr', 'reject_pr', 'report_progress', 'report_usage']],
    [
      'the judge of an artifact',
      { ...judge, judges: 'artifact' },
      ['get_issue', 'approve_phase', 'reject_phase', 'report_progress', 'report_usage'],
    ],
    [
      'a phase agent',
      { onComplete: async () => [], ...usage },
      ['get_issue', 'comment', 'complete_phase', 'ask_person', 'report_progress', 'report_usage'],
    ],
    [
      'a worker',
      { onPropose: () => {}, ...usage },
      [
        ...['get_issue', 'comment', 'update_issue_status', 'create_pr', 'ask_person', 'report_progress'],
        ...['report_usage', 'scripted_query'],
      ],
    ],
  ])('%s are these and no others, not even the own ones of the tracker', async (_role, context, names) => {
    const { toolSet } = openTools(refuse(), context);
    expect(toolSet.tools.map(({ name }) => name)).toEqual(names);
    const others = ['update_issue_status', 'scripted_query', 'approve_pr', 'complete_phase'].filter(
      (name) => !names.includes(name),
    );
    for (const name of others) expect((await toolSet.call(name, {})).success).toBe(false);
  });
});

describe.each([
  ['a change', {}, 'approve_pr', 'reject_pr'],
  ['an artifact', { judges: 'artifact' }, 'approve_phase', 'reject_phase'],
] as const)('the verdict about %s', (_what, context, approve, reject) => {
  const opened = () => {
    const said: Opinion[] = [];
    const { toolSet } = openTools(refuse(), { ...context, onOpinion: (opinion) => said.push(opinion) });
    return { said, call: (name: string, input: unknown) => toolSet.call(name, input) };
  };

  // @conforms 4.141, 4.142
  it('is what the tool was called with', async () => {
    const { said, call } = opened();
    expect(await call(approve, { summary: ' Good. ' })).toMatchObject({ success: true });
    const whole = { ...finding, file: 'a.ts', line: 3, severity: 'note' };
    expect(await call(reject, { summary: 'No.', findings: [finding, whole] })).toMatchObject({ success: true });
    expect(said).toEqual([
      { verdict: 'approved', summary: 'Good.', findings: [] },
      {
        verdict: 'rejected',
        summary: 'No.',
        findings: [{ ...finding, file: null, line: null, severity: 'must' }, whole],
      },
    ]);
  });

  it.each<[string, 'approve' | 'reject', unknown]>([
    ['an approval without a summary', 'approve', {}],
    ['an approval with findings', 'approve', { summary: 'x', findings: [finding] }],
    ['a rejection without a finding', 'reject', { summary: 'x', findings: [] }],
    ['a finding without what would satisfy', 'reject', { summary: 'x', findings: [{ problem: 'p' }] }],
    ['a finding of an unknown severity', 'reject', { summary: 'x', findings: [{ ...finding, severity: 'blocker' }] }],
    ['a finding before the first line', 'reject', { summary: 'x', findings: [{ ...finding, line: 0 }] }],
    ['an unknown field', 'reject', { summary: 'x', findings: [{ ...finding, fix: 'y' }] }],
    ['too many findings', 'reject', { summary: 'x', findings: Array.from({ length: 51 }, () => finding) }],
  ])('is not taken from %s', async (_what, tool, input) => {
    const { said, call } = opened();
    const { success, output } = await call(tool === 'approve' ? approve : reject, input);
    expect([success, errorIn(output)?.code, said]).toEqual([false, 'invalid_tool_arguments', []]);
  });
});
