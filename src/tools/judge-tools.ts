import { z } from 'zod';
import { severities } from '../core/pull/judge.ts';
import { defineTool } from './tool.ts';

export const text = (most: number) => z.string().trim().min(1).max(most);

export const finding = z.strictObject({
  file: text(1_000).nullable().default(null),
  line: z.int().positive().nullable().default(null),
  severity: z.enum(severities).default('must'),
  problem: text(4_000),
  wanted: text(4_000),
});

/** A judge lets a change go on. */
export const approvePr = defineTool({
  name: 'approve_pr',
  description:
    'Approve the commit that you judge: it does what the issue asks and can be merged. End your turn afterwards.',
  changesTracker: false,
  input: z.strictObject({ summary: text(4_000) }),
  run: async ({ summary }, { onOpinion }) => {
    onOpinion?.({ verdict: 'approved', summary, findings: [] });
    return 'Noted: approved. End your turn now.';
  },
});

/** A judge sends a change back. */
export const rejectPr = defineTool({
  name: 'reject_pr',
  description:
    'Reject the commit that you judge, and say what has to change. Each finding has the file and the line, a severity, ' +
    'the problem, and what would satisfy you. End your turn afterwards.',
  changesTracker: false,
  input: z.strictObject({ summary: text(4_000), findings: z.array(finding).min(1).max(50) }),
  run: async ({ summary, findings }, { onOpinion }) => {
    onOpinion?.({ verdict: 'rejected', summary, findings });
    return 'Noted: rejected. End your turn now.';
  },
});
