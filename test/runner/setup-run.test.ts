import { describe, expect, it } from 'vitest';
import type { ProvenCommand, SetupProposal } from '../../src/core/task/setup-proposal.ts';
import { createRedactor } from '../../src/core/text/redact.ts';
import type { RunRequest } from '../../src/runner/runner.ts';
import { type Prove, SetupProof, type WantedProof } from '../../src/runner/setup-run.ts';
import { settings } from '../fake/settings.ts';

const secret = 'a-secret-of-the-settings';
const said = { setup: null, checks: [{ name: 'test', run: 'make' }], notes: '' };

/** A run of a setup whose commands end as the test says. */
function stage(result: ProvenCommand['proof']['result'] = 'passed') {
  const proposals: SetupProposal[] = [];
  const wanted: WantedProof[] = [];
  let paused = 0;
  const given = settings();
  const own = { ...given, workspace: { ...given.workspace, setup: 'npm ci' } };
  // Only these parts of a request concern a proof.
  const request = {
    issue: { id: 'setup:1', identifier: 'setup:1', title: 'Setup' },
    workflow: { settings: own, revision: 'r1' },
    task: { propose: async (proposal: SetupProposal) => void proposals.push(proposal) },
  } as unknown as RunRequest;
  const prove: Prove = async (_, proof) => {
    wanted.push(proof);
    const commands = [{ name: 'workspace.setup', run: proof.setup ?? '' }, ...proof.checks];
    return commands.map((each) => ({ ...each, proof: { result, exitCode: 0, durationMs: 1, output: '' } }));
  };
  const proof = new SetupProof(request, {
    prove,
    commit: 'c1',
    pause: () => {
      paused += 1;
      return () => {
        paused -= 1;
      };
    },
    redactor: createRedactor([secret]),
    over: new AbortController().signal,
  });
  const take = (more: Partial<typeof said> = {}) => proof.take({ ...said, ...more }, new AbortController().signal);
  return { take, proposals, wanted, paused: () => paused };
}

describe('the proof of a setup', () => {
  it('runs the setup of the file where none is proposed, and proposes only what the agent said', async () => {
    const { take, proposals, wanted, paused } = stage();
    expect(await take({ notes: `see ${secret}` })).toEqual({ kind: 'noted', commands: 2 });
    expect([wanted[0]?.setup, wanted[0]?.commit, paused()]).toEqual(['npm ci', 'c1', 0]);
    expect(proposals).toMatchObject([
      { setup: null, checks: [{ name: 'test' }], notes: 'see [secret]', commit: 'c1', revision: 'r1' },
    ]);
  });

  it('proposes nothing where a command did not pass, and ends after the last try', async () => {
    const { take, proposals, wanted } = stage('failed');
    for (let left = 7; left >= 0; left -= 1)
      expect(await take()).toMatchObject({ kind: 'not_proven', triesLeft: left });
    await expect(take()).rejects.toMatchObject({ code: 'request_limited' });
    expect([wanted.length, proposals]).toEqual([8, []]);
  });

  it('runs one call at a time, and refuses notes that are a template', async () => {
    const { take, wanted } = stage();
    const [one, other] = await Promise.allSettled([take(), take()]);
    expect([one.status, other]).toMatchObject(['fulfilled', { reason: { code: 'request_limited' } }]);
    await expect(take({ notes: '{{ issue.title }}' })).rejects.toMatchObject({ code: 'invalid_tool_arguments' });
    expect(wanted).toHaveLength(1);
  });
});
