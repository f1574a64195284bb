import * as z from 'zod';
import { shortcomingText } from '../core/pipeline/completion.ts';
import { parseJson } from '../core/text/parse-json.ts';
import { finding, text } from './judge-tools.ts';
import { defineTool } from './tool.ts';

/** An agent says that its phase is finished. */
export const completePhase = defineTool({
  name: 'complete_phase',
  description:
    'Say that your phase is finished, after you have written its artifact. Baton reads the file as it is now. If the answer names ' +
    'problems, fix them and call this again. End your turn afterwards.',
  changesTracker: false,
  input: z.strictObject({
    summary: text(4_000),
    skip_to: text(40).nullable().default(null),
  }),
  run: async ({ summary, skip_to: skipTo }, { onComplete }) => {
    const found = (await onComplete?.({ summary, skipTo })) ?? [];
    if (found.length === 0) return 'Noted: the phase is completed. End your turn now.';
    return `Not completed yet. ${found.map(shortcomingText).join(' ')} Fix this and call complete_phase again.`;
  },
});

/** A judge lets an issue go on to its next phase. */
export const approvePhase = defineTool({
  name: 'approve_phase',
  description: 'Approve the artifact that you judge: the issue can go on to its next phase. End your turn afterwards.',
  changesTracker: false,
  input: z.strictObject({ summary: text(4_000) }),
  run: async ({ summary }, { onOpinion }) => {
    onOpinion?.({ verdict: 'approved', summary, findings: [] });
    return 'Noted: approved. End your turn now.';
  },
});

/** A judge sends an artifact back. */
export const rejectPhase = defineTool({
  name: 'reject_phase',
  description:
    'Reject the artifact that you judge, and say what has to change. Each finding has a severity, the problem, and what would ' +
    'satisfy you. End your turn afterwards.',
  changesTracker: false,
  input: z.strictObject({ summary: text(4_000), findings: z.array(finding).min(1).max(50) }),
  run: async ({ summary, findings }, { onOpinion }) => {
    onOpinion?.({ verdict: 'rejected', summary, findings });
    return 'Noted: rejected. End your turn now.';
  },
});

/** Why a text does not match a JSON schema; null: it does. */
export function schemaProblem(schema: Readonly<Record<string, unknown>>, json: string): string | null {
  try {
    const parsed = z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]).safeParse(parseJson(json));
    return parsed.success ? null : z.prettifyError(parsed.error).replaceAll('\n', ' ').slice(0, 1_000);
  } catch (error) {
    return error instanceof Error ? error.message.slice(0, 1_000) : 'it is not JSON';
  }
}
