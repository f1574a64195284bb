import { learningList, type Learning as Presented } from '../../../client/schema/learning.ts';
import type { Learning, LearningOrigin } from '../../../core/learning/learning.ts';
import { type TrialResult, trialResult } from '../../../core/learning/learning-trial.ts';
import { certainTime } from '../../../core/text/time-text.ts';
import { presentAuthor } from '../present/present-command.ts';
import type { Route } from '../route.ts';
import { inProject, type ReadParts } from './in-project.ts';

/** What earlier work of a project taught. */
export function learningsRoutes(parts: ReadParts): Route[] {
  return [
    inProject(parts, {
      path: '/learnings',
      summary: 'What earlier work taught, newest first, with the state of each trial.',
      answer: learningList,
      isCostly: true,
      handle: async (project) => {
        const { learnings } = project.tables;
        const found: Presented[] = [];
        for (const each of await learnings.list(project.id)) {
          const isTried = each.status === 'trial';
          const issues = isTried ? await learnings.trialIssues(project.id, each.id, each.changedAt) : [];
          found.push(present(each, isTried ? trialResult(issues) : null));
        }
        return { learnings: found, trial_issues: project.learner().trialIssues };
      },
    }),
  ];
}

function present({ createdAt, changedAt, author, origins, ...rest }: Learning, trial: TrialResult | null): Presented {
  return {
    ...rest,
    origins: origins.map(presentOrigin),
    author: presentAuthor(author),
    created_at: certainTime(createdAt),
    changed_at: certainTime(changedAt),
    trial: trial === null ? null : { sent_back_with: trial.sentBackWith, sent_back_without: trial.sentBackWithout },
  };
}

export function presentOrigin({ kind, issue, at }: LearningOrigin): Presented['origins'][number] {
  return { kind, issue, at: certainTime(at) };
}
