import * as z from 'zod';
import { pruneReport } from '../../../client/schema/prune.ts';
import { configuration, health, jobList, requestReport, salvage } from '../../../client/schema/system.ts';
import { workspaceReport } from '../../../client/schema/workspace.ts';
import { presentJobs } from '../present/present-job.ts';
import type { Route } from '../route.ts';
import { inProject, type ReadParts } from './in-project.ts';

/** Counts by minute are kept for seven days. */
const mostHours = 168;

/** The state of Baton itself: its jobs, requests, settings, health, workspaces, saved work, and what is past its retention. */
export function systemRoutes(parts: ReadParts): Route[] {
  return [
    inProject(parts, {
      path: '/jobs',
      summary: 'The recurring jobs of the daemon: the last run, its result, and the next run.',
      answer: jobList,
      handle: presentJobs,
    }),
    inProject(parts, {
      path: '/requests',
      summary: 'Requests to remote services by job, and how many are left.',
      query: z.object({ hours: z.coerce.number().int().min(1).max(mostHours).default(24) }),
      answer: requestReport,
      handle: (project, { query: { hours } }) => project.requests(hours),
    }),
    inProject(parts, {
      path: '/configuration',
      summary: 'The settings in force, each with its origin; secrets are hidden.',
      answer: configuration,
      handle: (project) => project.configuration(),
    }),
    inProject(parts, {
      path: '/health',
      summary: 'The health of the daemon: its last tick, event loop, memory and findings.',
      answer: health,
      handle: (project) => project.health(),
    }),
    inProject(parts, {
      path: '/workspaces',
      summary:
        'The folders that agents work in: how large each is, and why it is still there. It may read the tracker.',
      query: z.object({ ignores_retention: z.stringbool().default(false) }),
      answer: workspaceReport,
      isCostly: true,
      handle: (project, { query }) => project.workspaces({ ignoresRetention: query.ignores_retention }),
    }),
    inProject(parts, {
      path: '/prune',
      summary:
        'What is past its retention, how much of it there is, and which setting limits it. It may read the tracker.',
      answer: pruneReport,
      isCostly: true,
      handle: (project) => project.prunable(),
    }),
    inProject(parts, {
      path: '/salvage',
      summary: 'Work that Baton saved before it removed a workspace, newest first.',
      answer: salvage,
      handle: (project) => project.salvage(),
    }),
  ];
}
