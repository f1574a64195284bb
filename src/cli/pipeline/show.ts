import type { Pipeline } from '../../client/schema/pipeline.ts';
import { harmlessLine } from '../../core/text/harmless-line.ts';
import { connect } from '../../daemon/connect.ts';
import type { Surroundings } from '../../daemon/surroundings.ts';
import type { WorkplaceFlags } from '../../daemon/workplace.ts';
import { exitCodes } from '../exit-codes.ts';
import { jsonLine } from '../json-line.ts';
import { commandsHere } from '../place-flags.ts';

export interface PipelineFlags extends WorkplaceFlags {
  readonly json?: boolean;
}

export const noPipelineLine =
  'The workflow file lists no phases (pipeline.phases), so each issue goes straight to its worker.';

/** `baton pipeline show`: the phases as text, and what a typical issue costs in runs. */
export async function showPipeline(flags: PipelineFlags, surroundings: Surroundings): Promise<number> {
  await using connection = await connect(flags, surroundings);
  const { issues: _, is_cut: _cut, ...pipeline } = await connection.project.pipeline();
  const lines = pipeline.phases.length === 0 ? [noPipelineLine] : describe(pipeline);
  const text = `${lines.join('\n')}\n`;
  surroundings.stdout.write(flags.json ? jsonLine({ pipeline }) : commandsHere(flags, surroundings)(text));
  return exitCodes.ok;
}

type Shape = Omit<Pipeline, 'issues' | 'is_cut'>;
type Phase = Pipeline['phases'][number];

function describe(pipeline: Shape): string[] {
  const width = Math.max(...pipeline.phases.map(({ name }) => name.length), 'ready'.length);
  const drawn = pipeline.phases.flatMap((phase) => drawPhase(phase, pipeline, width));
  return [...drawn, `  ${'ready'.padEnd(width)}  the worker implements the issue`, '', ...rules(pipeline)];
}

function drawPhase(phase: Phase, { entry }: Shape, width: number): string[] {
  const { name, role, agent, artifact, required_sections: sections, max_bytes, has_schema, may_skip } = phase;
  const called = role === name ? '' : ` (${harmlessLine(role)})`;
  const begins = name === entry ? ', where an issue begins' : '';
  const details = [
    `agent: ${agent === null ? 'chosen by the rules of the issue' : harmlessLine(agent)}${called}`,
    `artifact: ${harmlessLine(artifact)}, at most ${max_bytes} bytes${has_schema ? ', JSON that matches its schema' : ''}`,
    ...(sections.length === 0 ? [] : [`sections: ${sections.map(harmlessLine).join(', ')}`]),
    ...(may_skip ? [] : ['its agent may not skip phases']),
  ];
  return [
    `  ${name.padEnd(width)}  ${validationWords(phase)}${begins}`,
    ...details.map((line) => `  ${'│'.padEnd(width)}    ${line}`),
    `  ${'▼'.padEnd(width)}`.trimEnd(),
  ];
}

function validationWords({ validation, judge }: Phase): string {
  if (validation === 'judge') return `judge: ${harmlessLine(judge ?? 'default')} approves its artifact`;
  return validation === 'trust'
    ? 'trust: what is missing is only a warning'
    : 'structural: Baton checks its size, sections and schema';
}

function rules({ max_revisions, runs, phases }: Shape): string[] {
  const judged = phases.filter(({ validation }) => validation === 'judge').length;
  const judges = judged === 0 ? '' : `, ${judged} of judges`;
  const limit = runs.limit === null ? 'no limit' : `limits.runs_per_issue is ${runs.limit}`;
  return [
    `An artifact goes back at most ${max_revisions === 1 ? 'once' : `${max_revisions} times`}; then a person decides.`,
    `If nothing is sent back, an issue costs ${runs.usual} runs: ${phases.length} of phases${judges}, and the rest for its change.`,
    `If everything is sent back as often as possible: ${runs.most} runs, not counting judges and failures (${limit}).`,
  ];
}
