import type { Kysely } from 'kysely';
import type { Plan, PlanFacts, PlannedChild } from '../../../core/planner/plan.ts';
import type { IssueKey } from '../../issue-key.ts';
import { textsFrom } from '../../json.ts';
import type { Database } from '../../schema.ts';
import { atomically, changedOne, inParts, ofIssue } from '../statements.ts';

const nothing: PlanFacts = { plan: null, partOf: null };

/** The plans of issues, each with its children; an issue has at most one. */
export function plansTable(db: Kysely<Database>) {
  const facts = async (project: string, issueIds: readonly string[]): Promise<ReadonlyMap<string, PlanFacts>> => {
    const found = new Map<string, PlanFacts>();
    const add = (id: string, some: Partial<PlanFacts>): void =>
      void found.set(id, { ...(found.get(id) ?? nothing), ...some });
    for (const some of inParts(issueIds)) {
      const plans = await db
        .selectFrom('plans')
        .selectAll()
        .where('project', '=', project)
        .where('issue_id', 'in', some)
        .execute();
      const parents = plans.map((row) => row.issue_id);
      const children = parents.length === 0 ? [] : await childrenOf(project, parents);
      for (const row of plans) {
        const own = children.filter((child) => child.parent_id === row.issue_id).map(childFrom);
        const { run_id: runId, summary, at, depth, made_at: madeAt } = row;
        add(row.issue_id, { plan: { runId, summary, at, depth, madeAt, children: own } });
      }
      const parts = await db
        .selectFrom('plan_children')
        .innerJoin('plans', (join) =>
          join
            .onRef('plans.project', '=', 'plan_children.project')
            .onRef('plans.issue_id', '=', 'plan_children.parent_id'),
        )
        .select(['plan_children.issue_id', 'plan_children.parent_id', 'plans.depth', 'plans.made_at'])
        .where('plan_children.project', '=', project)
        .where('plan_children.issue_id', 'in', some)
        .execute();
      for (const { issue_id: id, parent_id: parentId, depth, made_at: madeAt } of parts)
        add(id, { partOf: { parentId, depth, isMade: madeAt !== null } });
    }
    return found;
  };
  const childrenOf = (project: string, parents: readonly string[]) =>
    db
      .selectFrom('plan_children')
      .selectAll()
      .where('project', '=', project)
      .where('parent_id', 'in', parents)
      .orderBy('place')
      .execute();
  return {
    /** By the id of the issue; nothing for one that has no plan and is part of none. */
    facts,

    factsOf: async ({ project, issueId }: IssueKey): Promise<PlanFacts> =>
      (await facts(project, [issueId])).get(issueId) ?? nothing,

    /** Keeps a plan, once; false when the issue has one already. */
    add: ({ project, issueId }: IssueKey, { runId, summary, at, depth, madeAt, children }: Plan): Promise<boolean> =>
      atomically(db, async (inside) => {
        const isNew = await changedOne(
          inside
            .insertInto('plans')
            .values({ project, issue_id: issueId, run_id: runId, summary, at, depth, made_at: madeAt })
            .onConflict((conflict) => conflict.columns(['project', 'issue_id']).doNothing()),
        );
        if (!isNew || children.length === 0) return isNew;
        const rows = children.map((child, place) => ({
          project,
          issue_id: child.id,
          parent_id: issueId,
          place,
          title: child.title,
          description: child.description,
          priority: child.priority,
          labels_json: JSON.stringify(child.labels),
          blocked_by_json: JSON.stringify(child.blockedBy),
          identifier: child.identifier,
        }));
        await inside.insertInto('plan_children').values(rows).execute();
        return true;
      }),

    /** All of it is in the tracker, under these identifiers by id. */
    made: async (key: IssueKey, at: number, identifiers: ReadonlyMap<string, string>): Promise<void> => {
      for (const [id, identifier] of identifiers)
        await db
          .updateTable('plan_children')
          .set({ identifier })
          .where('project', '=', key.project)
          .where('issue_id', '=', id)
          .execute();
      await db.updateTable('plans').set({ made_at: at }).where(ofIssue(key)).where('made_at', 'is', null).execute();
    },
  };
}

function childFrom(row: Database['plan_children']): PlannedChild {
  const { issue_id: id, title, description, priority, identifier } = row;
  const labels = textsFrom(row.labels_json);
  return { id, title, description, priority, labels, blockedBy: textsFrom(row.blocked_by_json), identifier };
}
