import * as z from 'zod';
import { boardColumns, boardDetail, boardIssues } from '../../../client/schema/board.ts';
import { boardStatuses } from '../../../core/issue/board-status.ts';
import type { Route } from '../route.ts';
import { inProject, type ReadParts } from './in-project.ts';

const limit = z.coerce.number().int().min(1).max(100_000);
const status = z.enum(boardStatuses);
const label = z.string().max(200);
/** A name in a query may occur once or several times. */
const several = <S extends z.ZodType>(one: S) => z.union([one.transform((value) => [value]), z.array(one).max(50)]);

/** Reads of Baton's own board: refused with `tracker_not_board` where the issues are in another tracker. */
export function boardRoutes(parts: ReadParts): Route[] {
  return [
    inProject(parts, {
      path: '/board',
      summary: "The statuses of Baton's own board, each with the newest of its issues.",
      query: z.object({ limit: limit.default(10) }),
      answer: boardColumns,
      isCostly: true,
      handle: (project, { query }) => project.board().columns(query.limit),
    }),
    inProject(parts, {
      path: '/board/issues',
      summary: 'Issues of the board, status by status, the newest change first.',
      query: z.object({
        status: several(status).default([]),
        label: several(label).default([]),
        limit: limit.default(50),
      }),
      answer: boardIssues,
      isCostly: true,
      handle: (project, { query }) =>
        project.board().list({ statuses: query.status, labels: query.label, limit: query.limit }),
    }),
    inProject(parts, {
      path: '/board/issues/:issue',
      summary: 'Everything that the board knows of an issue: by its identifier, its number or its id.',
      params: { issue: z.string().max(500) },
      answer: boardDetail,
      isCostly: true,
      handle: (project, { params: { issue } }) => project.board().show(issue),
    }),
  ];
}
