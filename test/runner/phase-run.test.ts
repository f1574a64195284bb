import { describe, expect, it } from 'vitest';
import type { CompletionRequest } from '../../src/core/pipeline/completion.ts';
import { artifactFolder, PhaseEnd, phaseNews, phasePrompt } from '../../src/runner/phase-run.ts';
import type { PhaseBrief, RunRequest } from '../../src/runner/runner.ts';
import { phase } from '../core/pipeline/phase.ts';

const mark = '5b1f0d3e-8f6a-4b8e-9a53-000000000001';

const brief: PhaseBrief = {
  name: 'architecture',
  contract: phase('architecture'),
  earlier: [{ phase: 'research', text: 'earlier artifact' }],
  current: 'my artifact',
  reasons: ['first reason', 'second reason'],
  later: ['ready'],
  isCommitted: false,
  judged: null,
};

describe('the prompt of a phase agent', () => {
  // @conforms 4.93
  it('has the earlier artifacts, its own so far, the reasons and the contract', () => {
    const text = phasePrompt('template', brief, mark);
    for (const part of [
      'template',
      'earlier artifact',
      'my artifact',
      'first reason',
      'second reason',
      '.baton/architecture.md',
      'complete_phase',
      'skip_to',
    ])
      expect(text).toContain(part);
  });

  it('has everything that agents wrote between marks', () => {
    const text = phasePrompt('template', brief, mark);
    const outside = text.split('\n\n').filter((part) => !part.includes(mark));
    for (const part of ['earlier artifact', 'my artifact', 'first reason']) expect(outside.join()).not.toContain(part);
  });

  it('has the reasons and the contract again, and nothing else, where the agent remembers its thread', () => {
    const news = phaseNews({ role: 'phase', phase: brief }, mark) ?? '';
    for (const part of ['first reason', 'second reason', 'complete_phase']) expect(news).toContain(part);
    for (const part of ['earlier artifact', 'my artifact']) expect(news).not.toContain(part);
    expect(phaseNews({ role: 'worker', phase: brief }, mark)).toBeNull();
  });

  it('gives a worker the artifacts and no contract', () => {
    const text = phasePrompt('template', { ...brief, name: 'ready', contract: null, current: null, reasons: [] }, mark);
    expect(text).toContain('earlier artifact');
    expect(text).not.toContain('complete_phase');
    expect(phasePrompt('template', { ...brief, contract: null, earlier: [] }, mark)).toBe('template');
  });
});

it.each([
  ['.baton/research.md', false, '.baton'],
  ['.baton/research.md', true, null],
  ['docs/research.md', false, null],
  ['research.md', false, null],
])('the artifact %s, committed: %s, is kept out of git by %s', (artifact, isCommitted, folder) => {
  const contract = phase('research', { artifact });
  expect(artifactFolder({ role: 'phase', phase: { ...brief, contract, isCommitted } })).toBe(folder);
  expect(artifactFolder({ role: 'worker', phase: { ...brief, contract, isCommitted } })).toBeNull();
});

describe('the end of a phase', () => {
  const stage = (current: string | null, file: string | null) => {
    const taken: string[] = [];
    const request = {
      role: 'phase',
      phase: { ...brief, current },
      complete: async ({ summary }: CompletionRequest) => {
        taken.push(summary);
        return [];
      },
    } as unknown as RunRequest;
    const readFile = async () => (file === null ? { why: 'it does not exist' } : { text: file });
    return { taken, end: new PhaseEnd(request, { readFile }, '/workspace', undefined) };
  };

  it('is said by the tool at most ten times, because each time stores a version', async () => {
    const { taken, end } = stage(null, 'text');
    const say = () => end.tools().onComplete?.({ summary: 'done', skipTo: null });
    for (let call = 1; call <= 10; call += 1) await say();
    await expect(say()).rejects.toMatchObject({ code: 'request_limited' });
    expect(taken).toHaveLength(10);
    expect(end.isDone()).toBe(true);
  });

  it.each([
    ['a new artifact speaks', null, 'text', 1],
    ['a changed artifact speaks', 'old', 'text', 1],
    ['the artifact of before does not', 'text', 'text', 0],
    ['a blank one does not', null, ' \n', 0],
    ['a missing one does not', null, null, 0],
  ])('without a word of the agent: %s', async (_title, current, file, times) => {
    const { taken, end } = stage(current, file);
    await end.takeLeft();
    expect(taken).toHaveLength(times);
  });

  it('is taken from a file that the agent changed after a call that fell short', async () => {
    const taken: CompletionRequest[] = [];
    const file = { text: 'short' };
    const request = {
      ...{ role: 'phase', phase: { ...brief, current: null } },
      complete: async (said: CompletionRequest) => {
        taken.push(said);
        return [{ code: 'missing_sections', sections: ['Findings'] }];
      },
    } as unknown as RunRequest;
    const end = new PhaseEnd(request, { readFile: async () => ({ ...file }) }, '/workspace', undefined);
    await end.tools().onComplete?.({ summary: 'said', skipTo: 'ready' });
    await end.takeLeft();
    expect(taken).toHaveLength(1);
    file.text = 'better';
    await end.takeLeft();
    expect(taken).toMatchObject([{ summary: 'said' }, { artifact: { text: 'better' }, skipTo: 'ready' }]);
  });

  it('is not taken from the file when the agent has said it', async () => {
    const { taken, end } = stage(null, 'text');
    await end.tools().onComplete?.({ summary: 'said', skipTo: null });
    await end.takeLeft();
    expect(taken).toEqual(['said']);
  });
});
