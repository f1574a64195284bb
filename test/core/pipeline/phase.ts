import type { Phase, PipelineSettings } from '../../../src/core/pipeline/phase.ts';

export function phase(name: string, more: Partial<Phase> = {}): Phase {
  return {
    name,
    role: name,
    agent: null,
    prompt: null,
    artifact: `.baton/${name}.md`,
    requiredSections: ['Findings'],
    maxBytes: 1_000,
    schema: null,
    validation: 'structural',
    judge: null,
    judgePrompt: null,
    maySkip: true,
    maxTurns: 5,
    ...more,
  };
}

/** Seed 4's pipeline: research, architecture (judge), grooming, ready. */
export function pipeline(more: Partial<PipelineSettings> = {}): PipelineSettings {
  return {
    phases: [phase('research'), phase('architecture', { validation: 'judge' }), phase('grooming')],
    entry: null,
    maxRevisions: 2,
    revisionExpiryMs: 3_600_000,
    commitArtifacts: false,
    ...more,
  };
}
