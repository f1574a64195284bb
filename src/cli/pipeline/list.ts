import type { Pipeline } from '../../client/schema/pipeline.ts';
import { waitWords } from '../../core/pipeline/phase-standing.ts';
import { durationText } from '../../core/text/amount-text.ts';
import { harmlessLine } from '../../core/text/harmless-line.ts';
import { connect } from '../../daemon/connect.ts';
import type { Surroundings } from '../../daemon/surroundings.ts';
import { cut } from '../cell-text.ts';
import { columns } from '../columns.ts';
import { exitCodes } from '../exit-codes.ts';
import { jsonLine } from '../json-line.ts';
import { noPipelineLine, type PipelineFlags } from './show.ts';

const longestTitle = 50;

/** `baton pipeline list`: the issues by phase, with the time in the phase, the round, and what each waits for. */
export async function listPipeline(flags: PipelineFlags, surroundings: Surroundings): Promise<number> {
  await using connection = await connect(flags, surroundings);
  const { phases, issues, is_cut } = await connection.project.pipeline();
  const lines = phases.length === 0 ? [noPipelineLine] : table({ issues, is_cut }, surroundings.clock.now());
  surroundings.stdout.write(flags.json ? jsonLine({ issues, is_cut }) : `${lines.join('\n')}\n`);
  return exitCodes.ok;
}

function table({ issues, is_cut }: Pick<Pipeline, 'issues' | 'is_cut'>, now: number): string[] {
  if (issues.length === 0) return ['No issue has entered the pipeline. Each does with its first run.'];
  const rows = issues.map((issue) => [
    harmlessLine(issue.phase),
    harmlessLine(issue.issue_identifier),
    durationText(Math.max(0, now - Date.parse(issue.since))),
    `${issue.revisions + 1}`,
    `${waitWords[issue.waits_for]}${issue.needs_revision ? ' (sent back)' : ''}`,
    cut(harmlessLine(issue.title), longestTitle),
  ]);
  const more = is_cut ? ['There are more issues than this list shows.'] : [];
  return [...columns(['PHASE', 'ISSUE', 'TIME>', 'ROUND>', 'WAITS FOR', 'TITLE'], rows), ...more];
}
