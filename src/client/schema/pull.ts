import * as z from 'zod';
import { author, count, issueName, nextPage, text, textOrNone, time, timeOrNone, usage } from './common.ts';
import { message } from './message.ts';

export const pullStatus = z.enum(['in_review', 'approved', 'sent_back', 'merged', 'closed']);
const checksVerdict = z.enum(['none', 'waiting', 'green', 'red', 'incomplete']);
const sentBack = z.object({
  at: time,
  by: author,
  kind: z.enum(['person', 'check', 'conflict', 'review', 'judge', 'moved']),
});

/** A pull request as a list shows it. */
export const pull = issueName.extend({
  /** Counts from 1 in its project. */
  number: count,
  title: text,
  status: pullStatus,
  branch: text,
  base: text,
  /** The commit that is in review. */
  head: text,
  /** The combined result of all checks of that commit. */
  checks: checksVerdict,
  times_sent_back: count,
  opened_at: time,
  /** Since when the head is in review. */
  standing_since: time,
  /** Its page at its host; null for a pull request that only Baton has. */
  url: textOrNone,
});

export const pullList = z.object({ pulls: z.array(pull), next: nextPage });

const check = z.object({
  name: text,
  command: text,
  started_at: timeOrNone,
  ended_at: timeOrNone,
  exit_code: z.int().nullable(),
  /** Null: it waits or runs. */
  result: z.enum(['passed', 'failed', 'timed_out', 'skipped']).nullable(),
  /** The end of its output. */
  output: textOrNone,
});

/** What a judge said about a commit. */
const verdict = z.object({
  verdict: z.enum(['approved', 'rejected']),
  summary: text,
  findings: z.array(
    z.object({
      file: textOrNone,
      line: z.int().nullable(),
      severity: z.enum(['must', 'should', 'note']),
      problem: text,
      wanted: text,
    }),
  ),
  agent: text,
  run_id: text,
  at: time,
});

const round = z.object({
  round: count,
  head: text,
  at: time,
  /** Null when a person moved the branch. */
  run_id: textOrNone,
  sent_back: sentBack.nullable(),
  checks: z.array(check),
  verdicts: z.array(verdict),
  /** The words for the agent about this commit. */
  said: z.array(message),
});

/** Whether it can be merged now, and the commands with which a person does it in their own folder. */
const merge = z.object({
  is_possible: z.boolean(),
  /** `clean`, `behind`, or why it cannot be merged. */
  code: text,
  text,
  /** The checks that keep a merge back unless it ignores them, of Baton and of the host. A result of null: it waits or runs. */
  missing_checks: z.array(z.object({ name: text, result: z.enum(['failed', 'timed_out', 'skipped']).nullable() })),
  /** Files in conflict. */
  files: z.array(text),
  /** The commit of the base that this was decided for; null when the base is gone. */
  base_commit: textOrNone,
  method: z.enum(['merge', 'squash', 'rebase']),
  /** A person's folder that has the base checked out, where the commands merge it; null: any folder. */
  folder: textOrNone,
  commands: z.array(text),
});

/** What a host says where people review outside of Baton. */
const atHost = z.object({
  checks: z.array(
    z.object({
      name: text,
      /** Null: it waits or runs. */
      result: z.enum(['passed', 'failed', 'timed_out', 'skipped']).nullable(),
      is_required: z.boolean(),
      url: textOrNone,
    }),
  ),
  reviews: z.array(
    z.object({
      author: text,
      /** Whether this person may write to the repository. The words of others reach no agent. */
      is_trusted: z.boolean(),
      verdict: z.enum(['approved', 'changes_requested', 'comment']),
      body: text,
      path: textOrNone,
      line: z.int().nullable(),
      commit: textOrNone,
      at: time,
    }),
  ),
});

export const pullDetail = pull.extend({
  /** Where it stands with its judge; null: it has none. `waits`: its checks come first. */
  judge: z.enum(['waits', 'wanted', 'approved', 'rejected']).nullable(),
  /** Whether Baton merges it itself (`review.auto_merge`); null: people do. `objection`: what keeps it from that now. */
  auto_merge: z.object({ objection: textOrNone }).nullable(),
  body: text,
  repository: text,
  opened_by: author,
  sent_back: sentBack.nullable(),
  approved: z.object({ at: time, by: author }).nullable(),
  merged: z.object({ at: time, by: author, commit: text, method: textOrNone }).nullable(),
  closed: z.object({ at: time, by: author }).nullable(),
  /** Null when it has ended, or could not be read. */
  merge: merge.nullable(),
  /** Files of the change that control agents or CI: read them before you merge. Null: unreadable; absent: none. */
  governing: z.array(text).nullable().optional(),
  /** Null where Baton itself is the host, or the host could not be read. */
  at_host: atHost.nullable(),
  /** The title and the description of the issue. */
  asked: z.object({ title: text, description: textOrNone }),
  /** The last message of the agent that made the head. */
  last_message: textOrNone,
  /** Of all runs of the issue. */
  usage: usage.extend({ runs: count }),
  /** The first round first; the last one is in review. */
  rounds: z.array(round),
  /** How a person gets the branch into their own folder. */
  checkout_command: text,
  /** The folder in which its agent worked last; null when it is removed. */
  workspace_path: textOrNone,
});

export type Pull = z.output<typeof pull>;
export type PullDetail = z.output<typeof pullDetail>;
