import type { World } from '../../world.ts';
import type { Rule } from '../rule.ts';

interface ClaimRow {
  readonly id: string;
  readonly issue_id: string;
  readonly phase: string;
  readonly state: string;
  readonly decided_at: number | null;
}

interface PhaseRow {
  readonly issue_id: string;
  readonly phase: string;
  readonly revisions: number;
}

/**
 * A completion claim is decided at most once: it keeps its decision, it moves its issue forward once, or sends its artifact
 * back once. An issue has at most one open claim.
 */
export function completionOnce(world: World): Rule {
  const decided = new Map<string, string>();
  const revisions = new Map<string, number>();
  return {
    afterStep: () => {
      if (!world.storeHasChanged) return;
      const all = world.memory.look<ClaimRow>(claims);
      oneOpen(world, all);
      const sentBack = all.filter((claim) => isNew(world, decided, claim) && claim.state === 'revise');
      for (const { issue_id, phase, revisions: now } of world.memory.look<PhaseRow>(records)) {
        const key = `${issue_id} ${phase}`;
        const before = revisions.get(key) ?? 0;
        revisions.set(key, now);
        const times = sentBack.filter((claim) => claim.issue_id === issue_id && claim.phase === phase).length;
        if (now > before + times)
          world.broke('completion_once', issue_id, `its artifact was sent back ${now} times, and ${before} before`);
      }
    },
  };
}

function oneOpen(world: World, all: readonly ClaimRow[]): void {
  const open = all.filter(({ decided_at }) => decided_at === null).map(({ issue_id }) => issue_id);
  for (const [nth, issueId] of open.entries())
    if (open.indexOf(issueId) !== nth) world.broke('completion_once', issueId, 'it has two open completion claims');
}

/** Whether a claim was decided since the last look. */
function isNew(world: World, decided: Map<string, string>, { id, issue_id, state, decided_at }: ClaimRow): boolean {
  const decision = decided_at === null ? null : `${state} at ${decided_at}`;
  const before = decided.get(id);
  if (before !== undefined && before !== decision)
    world.broke('completion_once', issue_id, `the claim ${id} was ${before}, and is ${decision ?? state}`);
  if (decision === null || before !== undefined) return false;
  decided.set(id, decision);
  world.tally(`claim: ${state}`);
  return true;
}

const claims = 'select id, issue_id, phase, state, decided_at from completion_claims';
const records = 'select issue_id, phase, revisions from phases';
