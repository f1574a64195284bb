import * as z from 'zod';
import { commandList } from '../../../client/schema/command.ts';
import type { ApiProject } from '../api-project.ts';
import { presentCommand } from '../present/present-command.ts';
import type { Route } from '../route.ts';
import { inProject, type ReadParts } from './in-project.ts';

const query = z.object({ limit: z.coerce.number().int().min(1).max(500).default(100) });

export function commandsRoutes(parts: ReadParts): Route[] {
  return [
    inProject(parts, {
      path: '/commands',
      summary: 'The latest commands with their answers, newest first.',
      query,
      answer: commandList,
      isCostly: true,
      handle: async (project, { query: { limit } }) => {
        const presented = (await project.tables.commands.outlines(project.id, { limit })).map((each) =>
          presentCommand(each),
        );
        const names = await namesOf(
          project,
          presented.flatMap(({ issue }) => issue ?? []),
        );
        return { commands: presented.map((each) => ({ ...each, issue: names.get(each.issue ?? '') ?? each.issue })) };
      },
    }),
  ];
}

/** The identifiers of issues that commands name by id, as far as Baton knows them. */
async function namesOf(project: ApiProject, issues: readonly string[]): Promise<Map<string, string>> {
  const asked = [...new Set(issues)];
  if (asked.length === 0) return new Map();
  const { tables, id } = project;
  const model = project.read();
  const seen = [...model.candidates, ...model.running.map(({ issue }) => issue)];
  const [ran, filed] = await Promise.all([
    tables.runs.latestOfIssues(id, asked),
    tables.boardIssues.readMany(id, asked),
  ]);
  return new Map([
    ...seen.map((issue) => [issue.id, issue.identifier] as const),
    ...ran.map(({ issueId, identifier }) => [issueId, identifier] as const),
    ...filed.map((issue) => [issue.id, issue.identifier] as const),
  ]);
}
