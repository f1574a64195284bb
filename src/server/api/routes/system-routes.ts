import { z } from 'zod';
import { configuration, health, jobList, requestReport, salvage } from '../../../client/schema/system.ts';
import { presentJobs } from '../present/present-job.ts';
import type { Route } from '../route.ts';
import { inProject, type ReadParts } from './in-project.ts';

/** Counts by minute are kept for seven days. */
const mostHours = 168;

/** The state of Baton itself: its jobs, requests, settings, health and saved work. */
export function systemRoutes(parts: ReadParts): Route[] {
  return [
    inProject(parts, {
      path: '/jobs',
      summary: 'The jobs of the daemon: when each ran, what came of it, and when it is due.',
      answer: jobList,
      handle: presentJobs,
    }),
    inProject(parts, {
      path: '/requests',
      summary: 'Who spent how many requests to remote services, and what is left.',
      query: z.object({ hours: z.coerce.number().int().min(1).max(mostHours).default(24) }),
      answer: requestReport,
      handle: (project, { query: { hours } }) => project.requests(hours),
    }),
    inProject(parts, {
      path: '/configuration',
      summary: 'The settings in force, each with where it comes from; secrets are not shown.',
      answer: configuration,
      handle: (project) => project.configuration(),
    }),
    inProject(parts, {
      path: '/health',
      summary: 'How the daemon is: its last tick, its event loop, its memory, and what it found.',
      answer: health,
      handle: (project) => project.health(),
    }),
    inProject(parts, {
      path: '/salvage',
      summary: 'Work that was saved before its workspace was removed; the newest first.',
      answer: salvage,
      handle: (project) => project.salvage(),
    }),
  ];
}
