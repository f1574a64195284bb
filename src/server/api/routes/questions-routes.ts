import * as z from 'zod';
import { questionAnswer, questionList } from '../../../client/schema/question.ts';
import { presentQuestions } from '../present/present-question.ts';
import type { Route } from '../route.ts';
import { findQuestion } from './find-question.ts';
import { inProject, type ReadParts } from './in-project.ts';

const query = z.object({
  limit: z.coerce.number().int().min(1).max(500).default(50),
  /** `open`: open questions only. `latest`: the newest, in any state. */
  which: z.enum(['open', 'latest']).optional(),
});

/** The questions that agents ask people. */
export function questionsRoutes(parts: ReadParts): Route[] {
  return [
    inProject(parts, {
      path: '/questions',
      summary: 'The questions of agents: the open ones, oldest first, then the latest answered or closed ones.',
      query,
      answer: questionList,
      handle: async (project, { query: { limit, which } }) => {
        const { tables, id } = project;
        const open = which === 'latest' ? [] : await tables.questions.open(id);
        const latest = which === 'open' ? [] : await tables.questions.list(id, { limit });
        const isOpen = new Set(open.map((question) => question.id));
        const found = [...open, ...latest.filter((question) => !isOpen.has(question.id))];
        return { questions: await presentQuestions(found, project, project.read()) };
      },
    }),
    inProject(parts, {
      path: '/questions/:question',
      summary: 'One question, by its id, the start of its id, or its issue.',
      params: { question: z.string().max(500) },
      answer: questionAnswer,
      handle: async (project, { params: { question } }) => {
        const found = await findQuestion(project.tables.questions, project.id, question);
        const [presented] = await presentQuestions([found], project, project.read());
        // `presentQuestions` returns one for each question.
        return { question: presented as NonNullable<typeof presented> };
      },
    }),
  ];
}
