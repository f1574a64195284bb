import * as z from 'zod';
import {
  artifact as artifactSchema,
  type IssuePipeline,
  issuePipelineAnswer,
  type Pipeline,
  pipeline as pipelineSchema,
} from '../../../client/schema/pipeline.ts';
import { type Diff, diff } from '../../../client/schema/run.ts';
import type { Clock } from '../../../clock/clock.ts';
import { BatonError } from '../../../core/baton-error.ts';
import { normalizeState } from '../../../core/issue/issue.ts';
import { estimateRuns } from '../../../core/pipeline/most-runs.ts';
import { entryPhase, type PhaseRecord, phaseNames, phaseOf, readyPhase } from '../../../core/pipeline/phase.ts';
import { phaseWait } from '../../../core/pipeline/phase-standing.ts';
import { agentOfPhase } from '../../../core/pipeline/phase-work.ts';
import { certainTime } from '../../../core/text/time-text.ts';
import { unifiedDiff } from '../../../core/text/unified-diff.ts';
import type { IssueKey } from '../../../store/issue-key.ts';
import type { Artifact } from '../../../store/tables/pipeline/artifacts.ts';
import type { ApiProject } from '../api-project.ts';
import { issueNotFound } from '../api-refusal.ts';
import { activitiesOf } from '../present/issue-activity.ts';
import { type IssueFacts, presentBoardIssue, presentNamedIssue, seenIssues } from '../present/present-issue.ts';
import { openIn, presentIssuePipeline, presentVersion, surroundingsIn } from '../present/present-pipeline.ts';
import type { Route } from '../route.ts';
import { findIssue } from './find-issue.ts';
import { inProject, type ReadParts } from './in-project.ts';
import { listIssues } from './list-issues.ts';

const issue = z.string().trim().min(1).max(500);
const phase = z.string().min(1).max(100);
const version = z.coerce.number().int().min(1);
/** An artifact is sent back a few times; people's versions come on top. */
const claimsShown = 50;

/** The pipeline, the phases of an issue, and the versions of its artifacts. */
export function pipelineRoutes(parts: ReadParts): Route[] {
  const { clock } = parts;
  return [
    inProject(parts, {
      path: '/pipeline',
      summary: 'The phases of the pipeline, what an issue costs in runs, and the issues by phase.',
      answer: pipelineSchema,
      isCostly: true,
      handle: (project) => pipelineOf(project, clock),
    }),
    inProject(parts, {
      path: '/issues/:issue/pipeline',
      summary: 'Where an issue stands in the pipeline: its phase, completion claims and artifacts.',
      params: { issue },
      answer: issuePipelineAnswer,
      handle: async (project, { params }) => {
        const found = await factsOf(project, params.issue);
        if (found === null) return issueNotFound();
        const { id, identifier } = found;
        return { issue_id: id, issue_identifier: identifier, pipeline: await issuePipeline(project, id) };
      },
    }),
    inProject(parts, {
      path: '/issues/:issue/artifacts/:phase',
      summary: 'One version of the artifact of a phase; without `version` the newest.',
      params: { issue, phase },
      query: z.object({ version: version.optional() }),
      answer: artifactSchema,
      handle: async (project, { params, query }) => {
        const found = await factsOf(project, params.issue);
        if (found === null) return issueNotFound();
        const read = await readArtifact(project, found.id, params.phase, query.version);
        return { ...presentVersion(read), text: read.text };
      },
    }),
    inProject(parts, {
      path: '/issues/:issue/artifacts/:phase/diff',
      summary: 'The difference between two versions of an artifact; by default between the newest and the one before.',
      params: { issue, phase },
      query: z.object({ from: version.optional(), to: version.optional() }),
      answer: diff,
      isCostly: true,
      handle: async (project, { params, query }) => {
        const found = await factsOf(project, params.issue);
        if (found === null) return issueNotFound();
        const after = await readArtifact(project, found.id, params.phase, query.to);
        const from = query.from ?? after.version - 1;
        const before = from === 0 ? null : await readArtifact(project, found.id, params.phase, from);
        return diffOf(before, after, phaseOf(project.pipeline().pipeline, params.phase)?.artifact ?? params.phase);
      },
    }),
  ];
}

/** Null where the issue is not in the pipeline. */
export async function issuePipeline(project: ApiProject, issueId: string): Promise<IssuePipeline | null> {
  const { tables, id } = project;
  const key: IssueKey = { project: id, issueId };
  const { pipeline } = project.pipeline();
  const record = pipeline.phases.length === 0 ? null : await tables.phases.read(key);
  if (record === null) return null;
  const claims = await tables.completionClaims.list(key, claimsShown);
  const versions = await tables.artifacts.list(key);
  return presentIssuePipeline({ record, claims, versions }, pipeline, surroundingsIn(project.read())(issueId));
}

async function factsOf(project: ApiProject, reference: string): Promise<IssueFacts | null> {
  const model = project.read();
  return (await findIssue(project, reference, model, activitiesOf(model)))?.facts ?? null;
}

async function readArtifact(
  { tables, id }: ApiProject,
  issueId: string,
  name: string,
  wanted: number | undefined,
): Promise<Artifact> {
  const key = { project: id, issueId };
  const versions = (await tables.artifacts.list(key)).filter((each) => each.phase === name);
  const number = wanted ?? Math.max(0, ...versions.map((each) => each.version));
  const found = await tables.artifacts.read(key, name, number);
  if (found !== null) return found;
  const what = wanted === undefined ? 'artifact' : `version ${wanted} of an artifact`;
  throw new BatonError('artifact_not_found', `The phase "${name}" of this issue has no ${what}.`, {
    details: { phase: name, version: wanted ?? null },
  });
}

function diffOf(before: Artifact | null, after: Artifact, path: string): Diff {
  const { added, removed, patch } = unifiedDiff(before?.text ?? '', after.text, path);
  const status = before === null ? 'added' : 'modified';
  return {
    base: before === null ? null : `version ${before.version}`,
    head: `version ${after.version}`,
    branch: null,
    files: patch === '' ? [] : [{ path, old_path: null, status, added, removed, patch }],
    is_cut: false,
    why_none: null,
  };
}

/** How many issues the list of the pipeline has: those in active states, and those in a phase before `ready`. */
const mostActive = 500;
const mostInPhases = 1_000;

async function pipelineOf(project: ApiProject, clock: Clock): Promise<Pipeline> {
  const settings = project.pipeline();
  const { pipeline, judge, limits } = settings;
  const { usual, most } = estimateRuns(settings);
  const { issues, isCut } =
    pipeline.phases.length === 0 ? { issues: [], isCut: false } : await inPhases(project, clock);
  return {
    phases: pipeline.phases.map((each) => ({
      name: each.name,
      role: each.role,
      agent: each.agent,
      artifact: each.artifact,
      required_sections: [...each.requiredSections],
      max_bytes: each.maxBytes,
      has_schema: each.schema !== null,
      validation: each.validation,
      judge:
        each.validation === 'judge'
          ? (agentOfPhase({ role: 'phase_judge', phase: each.name }, pipeline, judge.agents) ?? 'default')
          : null,
      may_skip: each.maySkip,
      max_turns: each.maxTurns,
    })),
    entry: entryPhase(pipeline),
    max_revisions: pipeline.maxRevisions,
    revision_expiry_ms: pipeline.revisionExpiryMs,
    runs: { usual, most, limit: limits.runsPerIssue > 0 ? limits.runsPerIssue : null },
    issues,
    is_cut: isCut,
  };
}

async function inPhases(
  project: ApiProject,
  clock: Clock,
): Promise<{ readonly issues: Pipeline['issues']; readonly isCut: boolean }> {
  const { tables, id } = project;
  const model = project.read();
  const activities = activitiesOf(model);
  const { states } = project.describe();
  const isFinished = (state: string): boolean =>
    states.some(({ name, kind }) => kind === 'terminal' && normalizeState(name) === normalizeState(state));
  const active = states.filter(({ kind }) => kind === 'active').map(({ name }) => name);
  const page = { filter: { states: active }, order: 'start', limit: mostActive, after: null } as const;
  const listed = await listIssues(project, page, clock);
  const facts = new Map([...listed.issues, ...seenIssues(model, activities)].map((each) => [each.id, each]));
  const records = new Map<string, PhaseRecord>(await tables.phases.readAll(id, [...facts.keys()]));
  const underway = await tables.phases.list(id, { not: readyPhase, limit: mostInPhases });
  for (const [issueId, record] of underway) records.set(issueId, record);
  for (const named of await nameRest(
    project,
    [...records.keys()].filter((each) => !facts.has(each)),
  ))
    facts.set(named.id, named);
  const open = await tables.completionClaims.allOpen(id);
  const surroundings = surroundingsIn(model);
  const order = phaseNames(project.pipeline().pipeline);
  const issues = [...records]
    .flatMap(([issueId, record]) => {
      const known = facts.get(issueId);
      if (known === undefined || isFinished(known.state)) return [];
      const claim = open.get(issueId);
      return {
        issue_id: issueId,
        issue_identifier: known.identifier,
        title: known.title,
        state: known.state,
        phase: record.phase,
        since: certainTime(record.since),
        revisions: record.revisions,
        needs_revision: record.revisionSince !== null,
        waits_for: phaseWait(record, openIn(claim === undefined ? [] : [claim]), surroundings(issueId)),
      };
    })
    .toSorted(
      (one, other) =>
        order.indexOf(one.phase) - order.indexOf(other.phase) || Date.parse(one.since) - Date.parse(other.since),
    );
  return { issues, isCut: listed.next !== null || underway.size === mostInPhases };
}

/** The names of issues that the model does not have: from the board, or from their runs. */
async function nameRest(project: ApiProject, ids: readonly string[]): Promise<readonly IssueFacts[]> {
  const { tables, id } = project;
  const activities = activitiesOf(project.read());
  if (project.describe().has_board) {
    const found = await tables.boardIssues.readMany(id, ids);
    return found.map((each) => presentBoardIssue(each, activities));
  }
  // A daemon that has polled knows every issue that is not finished.
  if (project.read().isPolled) return [];
  const runs = await Promise.all(ids.map((each) => tables.runs.latestOfIssue({ project: id, issueId: each })));
  return runs.flatMap((run) =>
    run === null ? [] : presentNamedIssue({ id: run.issueId, identifier: run.identifier }, activities),
  );
}
