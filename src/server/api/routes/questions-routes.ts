import { z } from 'zod';
import { presentQuestion } from '../present/present-question.ts';
import type { Route } from '../route.ts';
import { questionList } from '../schema/question.ts';
import { inProject, type ReadParts } from './in-project.ts';

const query = z.object({ limit: z.coerce.number().int().min(1).max(500).default(50) });

/** What agents ask people: all that is open, oldest first, then the latest of the others. */
export function questionsRoutes(parts: ReadParts): Route[] {
  return [
    inProject(parts, {
      path: '/questions',
      summary: 'What agents ask: all that is open, the oldest first, then the latest that are answered or closed.',
      query,
      answer: questionList,
      handle: async (project, { query: { limit } }) => {
        const { tables, id } = project;
        const open = await tables.questions.open(id);
        const latest = await tables.questions.list(id, { limit });
        const isOpen = new Set(open.map((question) => question.id));
        const model = project.read();
        return {
          questions: [...open, ...latest.filter((question) => !isOpen.has(question.id))].map((question) =>
            presentQuestion(question, model),
          ),
        };
      },
    }),
  ];
}
