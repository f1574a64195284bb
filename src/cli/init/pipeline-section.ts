import { readyPhase, type Validation } from '../../core/pipeline/phase.ts';

/** The phases that `baton init --pipeline` writes (seed 4): research, architecture, grooming, ready. */
const phases: readonly {
  readonly name: string;
  readonly required_sections: readonly string[];
  readonly validation: Validation;
}[] = [
  { name: 'research', required_sections: ['Findings', 'Open questions'], validation: 'structural' },
  { name: 'architecture', required_sections: ['Design', 'Alternatives', 'Risks'], validation: 'judge' },
  { name: 'grooming', required_sections: ['Acceptance criteria', 'Steps', 'Tests'], validation: 'structural' },
];

export const pipelineSection = { phases: [...phases, { name: readyPhase }] };

/** Each phase is a run of its own, and each judge another. */
const runs = phases.length + phases.filter(({ validation }) => validation === 'judge').length;

export const pipelineComment = `Every issue is prepared in these phases first. This adds about ${runs} runs to each issue. See \`baton pipeline show\`.`;
