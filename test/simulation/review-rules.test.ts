// @module-tag full
import { describe, expect, it } from 'vitest';
import type { Issue } from '../../src/core/issue/issue.ts';
import type { PullRequest } from '../../src/core/pull/pull-request.ts';
import type { OrchestratorParts } from '../../src/orchestrator/assemble.ts';
import type { PullRequests } from '../../src/pulls/pull-requests.ts';
import type { RuleName } from './broken-rule.ts';
import type { Plan } from './plan.ts';
import { changed, changedStore, inQuietWorld, isFound, quiet, withSettings } from './quiet-world.ts';
import { autoMergeLabel, type JudgePlan, type ReviewPlan } from './review/review-plan.ts';
import type { ReviewWorld } from './review/review-world.ts';
import { otherBase } from './review/simulated-github.ts';
import { commitId, type SimulatedRepository } from './review/simulated-repository.ts';
import type { Sabotage } from './sabotage.ts';
import type { World } from './world.ts';

const calmReview: ReviewPlan = {
  checks: 1,
  red: 0,
  skipped: 0,
  slowestCheckMs: 1_000,
  maxRounds: 5,
  decisionsPerMinute: 6,
  handsPerMinute: 0,
  basePerMinute: 0,
  fails: 0,
  killsAtDelivery: 0,
  tidy: 1,
  github: null,
  judge: null,
  autoMerge: null,
};
const byHand = { decisionsPerMinute: 0, handsPerMinute: 3 };
const allRed = { red: 1, decisionsPerMinute: 0 };

/** As in `rules.test.ts`, in a world in which changes are reviewed. */
describe('A rule of review mode notices', () => {
  it('nothing when nothing goes wrong, and much is delivered, merged and sent back', async () => {
    const { broken, counts } = await inReview(
      {},
      { red: 0.3, decisionsPerMinute: 2, handsPerMinute: 2 },
      { issues: 20 },
    );
    expect(broken).toBeNull();
    for (const what of ['merged by Baton', 'merged by hand', 'words heard', 'check: failed'])
      expect([what, counts.get(what) ?? 0]).not.toEqual([what, 0]);
  });

  // @conforms simulation.19
  it('a second open pull request of a branch', async () => {
    const openAnother = (world: World): void => {
      const { memory, project } = world;
      const [pull] = memory.look<{ branch: string }>('select branch from pull_requests where merged_at is null');
      if (pull === undefined || memory.look("select 1 from pull_requests where issue_id = 'other'").length > 0) return;
      const commits = { baseCommit: commitId(1), headCommit: commitId(1), base: 'main', branch: pull.branch };
      const texts = {
        title: '',
        body: '',
        identifier: 'O',
        repository: '',
        host: 'local',
        hostNumber: null,
        url: null,
      };
      const by = { kind: 'orchestrator' } as const;
      void memory.store.pullRequests.open({ project, issueId: 'other', ...commits, ...texts, at: 0, by });
    };
    expect(await isBroken('one_pull', { afterStep: openAnother })).toBe(true);
  });

  // @conforms simulation.20
  it('a change that is merged twice', async () => {
    const twice = withPulls((pulls, repository) => ({
      merge: async (pull, request) => {
        const result = await pulls.merge(pull, request);
        if (result.outcome === 'refused') return result;
        const { base } = repository;
        const made = repository.merged(base, request.headCommit, 'baton', 'Ida');
        const move = { branch: 'main', from: base, maker: 'baton', name: 'Ida', head: request.headCommit } as const;
        if (typeof made === 'string') repository.move({ ...move, to: made });
        return result;
      },
    }));
    expect(await isBroken('merge_once', { parts: twice })).toBe(true);
  });

  it('a merge that no person asked for', async () => {
    const eager = withPulls((pulls, repository) => ({
      read: async (read, signal) => {
        for (const { branch, headCommit } of read) {
          const { base } = repository;
          const made = repository.merged(base, headCommit, 'baton', 'Ida');
          if (typeof made === 'string' && repository.ref(branch) === headCommit)
            repository.move({ branch: 'main', from: base, to: made, maker: 'baton', name: 'Ida', head: headCommit });
        }
        return pulls.read(read, signal);
      },
    }));
    expect(await isBroken('merge_once', { parts: eager })).toBe(true);
  });

  // @conforms simulation.21
  it('a merge by hand that is lost', async () => {
    const blind = withPulls((pulls) => ({
      read: async (...given) => (await pulls.read(...given)).map((facts) => ({ ...facts, merged: null })),
    }));
    expect(await isBroken('merge_finishes', { parts: blind }, byHand)).toBe(true);
  });

  it('a merge that does not finish its issue', async () => {
    const idle = changed(({ trackerFor }) => ({
      trackerFor: (settings) => {
        const tracker = trackerFor(settings);
        const { changes } = tracker;
        if (changes === null) return tracker;
        const moveIssue: typeof changes.moveIssue = async (id, state, author, ask) => {
          const [issue] = state === 'Done' ? await tracker.fetchByIds([id]) : [];
          return issue ?? changes.moveIssue(id, state, author, ask);
        };
        return { ...tracker, changes: { ...changes, moveIssue } };
      },
    }));
    expect(await isBroken('merge_finishes', { parts: idle })).toBe(true);
  });

  it('a merge in the name of someone else', async () => {
    const wrong = withPulls((pulls) => ({
      read: async (...given) =>
        (await pulls.read(...given)).map((facts) => ({
          ...facts,
          merged: facts.merged === null ? null : { ...facts.merged, by: 'an agent' },
        })),
    }));
    expect(await isBroken('merge_finishes', { parts: wrong }, byHand)).toBe(true);
  });

  // @conforms simulation.22
  it('an issue that is finished without a merge', async () => {
    const dreaming = withPulls((pulls) => ({
      read: async (...given) =>
        (await pulls.read(...given)).map((facts) => ({
          ...facts,
          merged: { commit: commitId(1), by: 'Paula', method: 'merge' as const },
        })),
    }));
    expect(await isBroken('done_needs_merge', { parts: dreaming })).toBe(true);
  });

  // @conforms simulation.23
  it('a commit of a person that is overwritten', async () => {
    // A person pushes while an agent works, and Baton believes that it published that commit itself.
    const meddle = ({ review }: World): void => {
      for (const checkout of review?.checkouts.values() ?? []) {
        const { branch, head } = checkout;
        const from = review?.repository.ref(branch) ?? null;
        if (from === null || from === head || review?.repository.get(from).maker === 'person') continue;
        const to = review?.repository.commit([from], { pushed: branch }, 'person', 'Paula') ?? '';
        review?.repository.move({ branch, from, to, maker: 'person', name: 'Paula' });
        checkout.published = to;
      }
    };
    expect(await isBroken('foreign_commits', { afterStep: meddle }, allRed)).toBe(true);
  });

  // @conforms simulation.24
  it('words that no run gets', async () => {
    const forgetful = changedStore((tables) => ({
      ...tables,
      messages: { ...tables.messages, waiting: async () => [] },
    }));
    expect(await isBroken('words_arrive', { parts: forgetful }, allRed)).toBe(true);
  });

  it('words that are accepted and dropped', async () => {
    const deaf = changedStore((tables) => ({ ...tables, messages: { ...tables.messages, leave: async () => {} } }));
    expect(await isBroken('words_arrive', { parts: deaf })).toBe(true);
  });

  it('words that are forgotten although their run failed', async () => {
    const settlesAll = changedStore((tables) => ({
      ...tables,
      runs: {
        ...tables.runs,
        finish: async (runId, generation, end) => {
          const run = await tables.runs.read(runId);
          if (run !== null) await tables.messages.settle(run, runId, 1);
          return tables.runs.finish(runId, generation, end);
        },
      },
    }));
    const agents = { ...quiet.agents, hostile: 0.5, tempers: { fails: 1 } };
    expect(await isBroken('words_arrive', { parts: settlesAll }, allRed, { agents, issues: 20 })).toBe(true);
  });

  it('words that are repeated after a run that ended well', async () => {
    const stubborn = changedStore((tables) => ({
      ...tables,
      messages: { ...tables.messages, settle: async () => 0 },
    }));
    expect(await isBroken('words_arrive', { parts: stubborn }, allRed)).toBe(true);
  });

  // @conforms simulation.25
  it('a round beyond the limit', async () => {
    const generous = changed(({ source }) => ({
      source: {
        read: () => {
          const { workflow, problem } = source.read();
          const review = { ...workflow.settings.review, maxRounds: 50 };
          return { workflow: { ...workflow, settings: { ...workflow.settings, review } }, problem };
        },
      },
    }));
    expect(await isBroken('rounds', { parts: generous }, { ...allRed, maxRounds: 1 })).toBe(true);
  });

  describe('with a judge', () => {
    const judge: JudgePlan = {
      ...{ rejects: 0.5, saysNothing: 0, spoils: 0, repeats: 0, count: 1, decides: 'any_reject', maxRounds: 3 },
      ...{ withoutVerdict: 'hold', extraSlotsPercent: 25 },
    };
    const undecided = { judge, decisionsPerMinute: 0 };

    it('nothing when nothing goes wrong, and changes are approved and rejected', async () => {
      const { broken, counts } = await inReview({}, { judge, decisionsPerMinute: 1 }, { issues: 20 });
      expect(broken).toBeNull();
      for (const what of ['judge: approve_pr', 'judge: reject_pr', 'merged by Baton'])
        expect([what, counts.get(what) ?? 0]).not.toEqual([what, 0]);
    });

    it('a verdict that counts for another commit', async () => {
      const careless = changedStore((tables) => ({
        ...tables,
        verdicts: {
          ...tables.verdicts,
          add: (key, verdict) => tables.verdicts.add(key, { ...verdict, commit: commitId(999) }),
        },
      }));
      expect(await isBroken('honest_verdicts', { parts: careless }, undecided)).toBe(true);
    });

    it('a change that is sent back without a rejection', async () => {
      const harsh = changedStore((tables) => ({
        ...tables,
        verdicts: {
          ...tables.verdicts,
          add: (key, verdict) => tables.verdicts.add(key, { ...verdict, verdict: 'approved' }),
          list: async (key) =>
            (await tables.verdicts.list(key)).map((each) => ({ ...each, verdict: 'rejected' as const })),
        },
      }));
      expect(await isBroken('honest_verdicts', { parts: harsh }, undecided)).toBe(true);
    });

    it('a judge that never starts', async () => {
      const lazy = changed(({ source }) => ({
        source: {
          read: () => {
            const { workflow, problem } = source.read();
            const none = { ...workflow.settings.judge, agents: [] };
            return { workflow: { ...workflow, settings: { ...workflow.settings, judge: none } }, problem };
          },
        },
      }));
      expect(await isBroken('no_issue_forgotten', { parts: lazy }, { ...undecided, github: null })).toBe(true);
    });

    it('a commit that is judged again', async () => {
      const forgetful = changedStore((tables) => ({
        ...tables,
        verdicts: { ...tables.verdicts, list: async () => [] },
      }));
      expect(await isBroken('honest_verdicts', { parts: forgetful }, undecided)).toBe(true);
    });

    const isFoundIn = (parts: NonNullable<Sabotage['parts']>, plan: Partial<JudgePlan>): Promise<boolean> => {
      const review = { ...calmReview, judge: { ...judge, ...plan }, decisionsPerMinute: 0 };
      return isFound('rounds', { parts }, { review, stormMs: 30 * 60_000 });
    };

    // @conforms simulation.43
    it.each([
      ['that it rejects', { rejects: 1 }],
      ['about which it says nothing', { saysNothing: 1, withoutVerdict: 'todo' }],
    ] as const)('a judge that sends a change back too often %s', async (_what, plan) => {
      const generous = withSettings((settings) => ({ ...settings, judge: { ...settings.judge, maxRounds: 50 } }));
      expect(await isFoundIn(generous, { ...plan, maxRounds: 1 })).toBe(true);
    });

    // @conforms simulation.43
    it('a judge that is asked again for ever', async () => {
      const forgetful = changedStore((tables) => ({
        ...tables,
        counters: {
          ...tables.counters,
          read: async (key) => ({ ...(await tables.counters.read(key)), stale_runs: 0 }),
        },
      }));
      expect(await isFoundIn(forgetful, { saysNothing: 1 })).toBe(true);
    });

    it('judges beyond their slots', async () => {
      const generous = changed(({ source }) => ({
        source: {
          read: () => {
            const { workflow, problem } = source.read();
            const wide = { ...workflow.settings.judge, extraSlotsPercent: 10_000 };
            return { workflow: { ...workflow, settings: { ...workflow.settings, judge: wide } }, problem };
          },
        },
      }));
      const full = { issues: 30 };
      expect(await isBroken('slots', { parts: generous }, { judge: { ...judge, extraSlotsPercent: 0 } }, full)).toBe(
        true,
      );
    });
  });

  describe('where Baton merges by itself', () => {
    const judge: JudgePlan = {
      ...{ rejects: 0.2, saysNothing: 0, spoils: 0, repeats: 0, count: 1, decides: 'any_reject', maxRounds: 3 },
      ...{ withoutVerdict: 'hold', extraSlotsPercent: 25 },
    };
    const alone = { judge, autoMerge: 1, decisionsPerMinute: 0 };
    const isFoundIn = (parts: NonNullable<Sabotage['parts']>, review: Partial<ReviewPlan>): Promise<boolean> =>
      isFound('auto_merge', { parts }, { review: { ...calmReview, ...alone, ...review } });

    it('nothing when nothing goes wrong, and changes are merged', async () => {
      for (const github of [null, { checks: 1, lost: 0.1, slowestMs: 200 }]) {
        const { broken, counts } = await inReview({}, { ...alone, github, basePerMinute: 0.2 }, { issues: 10 });
        expect(broken).toBeNull();
        expect(counts.get('merged by itself') ?? 0).toBeGreaterThan(0);
      }
    });

    // @conforms simulation.42
    it('a merge without the label', async () => {
      const labelling = changed(({ trackerFor }) => ({
        trackerFor: (settings) => {
          const tracker = trackerFor(settings);
          const labelled = (issues: readonly Issue[]) => issues.map((each) => ({ ...each, labels: [autoMergeLabel] }));
          return {
            ...tracker,
            fetchByIds: async (...given) => labelled(await tracker.fetchByIds(...given)),
            fetchByStates: async (...given) => labelled(await tracker.fetchByStates(...given)),
          };
        },
      }));
      expect(await isFoundIn(labelling, { autoMerge: 0 })).toBe(true);
    });

    it('a merge of a commit that no one approved', async () => {
      const approved = (pull: PullRequest): PullRequest => ({
        ...pull,
        approved: { commit: pull.headCommit, at: 0, by: { kind: 'person', name: 'nobody' } },
      });
      const credulous = changedStore((tables) => ({
        ...tables,
        pullRequests: {
          ...tables.pullRequests,
          allOpen: async (...given) => (await tables.pullRequests.allOpen(...given)).map(approved),
          read: async (...given) => {
            const pull = await tables.pullRequests.read(...given);
            return pull === null ? null : approved(pull);
          },
        },
      }));
      expect(await isFoundIn(credulous, { judge: null })).toBe(true);
    });

    it('a merge without green checks', async () => {
      const rosy = changedStore((tables) => ({
        ...tables,
        checks: {
          ...tables.checks,
          list: async (...given) =>
            (await tables.checks.list(...given)).map((check) => ({ ...check, result: 'passed' })),
        },
      }));
      expect(await isFoundIn(rosy, { skipped: 1 })).toBe(true);
    });

    it('a merge into a base that has moved', async () => {
      const forgetful: NonNullable<Sabotage['parts']> = (parts, world, incarnation) =>
        changedStore((tables) => ({
          ...tables,
          pullRequests: {
            ...tables.pullRequests,
            rounds: async (...given) =>
              (await tables.pullRequests.rounds(...given)).map((round) => ({
                ...round,
                baseCommit: world.review?.repository.base ?? round.baseCommit,
              })),
          },
        }))(parts, world, incarnation);
      expect(await isFoundIn(forgetful, { basePerMinute: 6 })).toBe(true);
    });
  });

  // @conforms simulation.26
  it('a red check that is recorded as green', async () => {
    const rosy = changedStore((tables) => ({
      ...tables,
      checks: {
        ...tables.checks,
        end: (key, commit, name, end) => tables.checks.end(key, commit, name, { ...end, result: 'passed' }),
      },
    }));
    expect(await isBroken('honest_checks', { parts: rosy }, allRed)).toBe(true);
    expect(await isBroken('honest_checks', { parts: rosy }, { skipped: 1, decisionsPerMinute: 0 })).toBe(true);
  });

  it('a red check that is shown as green', async () => {
    const rosy = changedStore((tables) => ({
      ...tables,
      checks: {
        ...tables.checks,
        list: async (...given) => (await tables.checks.list(...given)).map((check) => ({ ...check, result: 'passed' })),
      },
    }));
    expect(await isBroken('honest_checks', { parts: rosy }, allRed)).toBe(true);
  });

  it('a merge whose checks are not green', async () => {
    const rosy = changedStore((tables) => ({
      ...tables,
      checks: {
        ...tables.checks,
        list: async (...given) => (await tables.checks.list(...given)).map((check) => ({ ...check, result: 'passed' })),
      },
    }));
    for (const share of [{ red: 1 }, { skipped: 1 }])
      expect(await isBroken('honest_checks', { parts: rosy }, share)).toBe(true);
  });

  // @conforms simulation.27
  it('checks that never run', async () => {
    const lazy = changed(() => ({ runChecks: async () => {} }));
    expect(await isBroken('review_settles', { parts: lazy }, { decisionsPerMinute: 0 })).toBe(true);
  });

  it('a red change that stays', async () => {
    const blind = changedStore((tables) => ({
      ...tables,
      pullRequests: { ...tables.pullRequests, sendBack: async () => false },
    }));
    expect(await isBroken('review_settles', { parts: blind }, allRed)).toBe(true);
  });

  it('a change that was sent back and whose issue stays in review', async () => {
    const idle = changed(({ trackerFor }) => ({
      trackerFor: (settings) => {
        const tracker = trackerFor(settings);
        const { changes } = tracker;
        if (changes === null) return tracker;
        const moveIssue: typeof changes.moveIssue = async (id, state, author, ask) => {
          const [issue] = state === 'Todo' ? await tracker.fetchByIds([id]) : [];
          return issue ?? changes.moveIssue(id, state, author, ask);
        };
        return { ...tracker, changes: { ...changes, moveIssue } };
      },
    }));
    expect(await isBroken('review_settles', { parts: idle }, allRed)).toBe(true);
  });

  it('an issue in review that no daemon shows', async () => {
    const blind = changed(({ trackerFor }) => ({
      trackerFor: (settings) => {
        const tracker = trackerFor(settings);
        const fetchByStates: typeof tracker.fetchByStates = async (...given) =>
          (await tracker.fetchByStates(...given)).filter(({ state }) => state !== 'Review');
        return { ...tracker, fetchByStates };
      },
    }));
    expect(await isBroken('review_settles', { parts: blind }, { decisionsPerMinute: 0 })).toBe(true);
  });

  it('commits in review that have no pull request', async () => {
    const without = changed(() => ({ pullsFor: () => null }));
    const plan = { tidy: 0, decisionsPerMinute: 0, checks: 0 };
    expect(await isBroken('review_settles', { parts: without }, plan)).toBe(true);
  });
});

const onGithub: Partial<ReviewPlan> = {
  decisionsPerMinute: 0,
  handsPerMinute: 4,
  basePerMinute: 0.5,
  github: { checks: 1, lost: 0, slowestMs: 500 },
};

/** The same with the real host for GitHub. */
describe('A rule of review mode notices on GitHub', () => {
  it('nothing when nothing goes wrong, whatever people do there', { timeout: 120_000 }, async () => {
    const plan = { ...onGithub, red: 0.3, decisionsPerMinute: 2 };
    const { broken, counts } = await inReview({}, plan, { issues: 50, stormMs: 60 * 60_000 });
    expect(broken).toBeNull();
    const acts = ['push', 'force', 'rebase', 'merge', 'squash', 'queue', 'close', 'reopen', 'retarget', 'stranger'];
    for (const what of [...acts.map((act) => `on GitHub: ${act}`), 'merged by Baton', 'merged by hand', 'words heard'])
      expect([what, counts.get(what) ?? 0]).not.toEqual([what, 0]);
  });

  // @conforms simulation.28
  it('a second pull request of a branch', async () => {
    const twice = withGithub((pulls, { github }) => ({
      open: async (change) => {
        const opened = await pulls.open(change);
        github?.open(change.branch, otherBase);
        return opened;
      },
    }));
    expect(await isBroken('one_pull', { parts: twice }, { ...onGithub, handsPerMinute: 0 })).toBe(true);
  });

  it('a head that is proposed again after its end', async () => {
    const again = withGithub((pulls, { github }) => ({
      read: async (...given) => {
        for (const { branch, state } of [...(github?.pulls ?? [])])
          if (state === 'CLOSED') github?.open(branch, 'main');
        return pulls.read(...given);
      },
    }));
    expect(await isBroken('one_pull', { parts: again }, onGithub, { issues: 30 })).toBe(true);
  });

  // @conforms simulation.29
  it('a commit of a person that is overwritten', async () => {
    const forced = withGithub((pulls, { repository, clone }) => ({
      open: async (change) => {
        const { branch } = change;
        const [from, to] = [repository.ref(branch), clone.ref(branch)];
        if (from !== null && to !== null) repository.move({ branch, from, to, maker: 'agent', name: 'Baton' });
        return pulls.open(change);
      },
    }));
    const plan = { ...onGithub, red: 0.7, handsPerMinute: 20 };
    const world = { issues: 50, stormMs: 4 * 60 * 60_000 };
    expect(await isBroken('foreign_commits', { parts: forced }, plan, world)).toBe(true);
  });

  // @conforms simulation.30
  it('an issue that is finished without a merge', async () => {
    const dreaming = withGithub((pulls) => ({
      read: async (...given) =>
        (await pulls.read(...given)).map((facts) =>
          facts.isClosed ? { ...facts, merged: { commit: commitId(1), by: 'Paula', method: null } } : facts,
        ),
    }));
    expect(await isBroken('done_needs_merge', { parts: dreaming }, onGithub)).toBe(true);
  });

  it('a merge that is lost', async () => {
    const blind = withGithub((pulls) => ({
      read: async (...given) => (await pulls.read(...given)).map((facts) => ({ ...facts, merged: null })),
    }));
    expect(await isBroken('merge_finishes', { parts: blind }, onGithub)).toBe(true);
  });

  it('the words of a stranger in a prompt', async () => {
    const naive = withGithub((pulls) => ({
      read: async (...given) =>
        (await pulls.read(...given)).map((facts) => ({
          ...facts,
          reviews: facts.reviews.map((review) => ({ ...review, isTrusted: true })),
        })),
    }));
    const plan = { ...onGithub, handsPerMinute: 2 };
    const long = { issues: 50, stormMs: 60 * 60_000 };
    expect(await isBroken('words_arrive', { parts: naive }, plan, long)).toBe(true);
  });
});

function inReview(sabotage: Sabotage, review: Partial<ReviewPlan>, plan: Partial<Plan> = {}, only?: RuleName) {
  return inQuietWorld(sabotage, { ...plan, review: { ...calmReview, ...review } }, only);
}

async function isBroken(
  rule: RuleName,
  sabotage: Sabotage,
  review: Partial<ReviewPlan> = {},
  plan: Partial<Plan> = {},
): Promise<boolean> {
  return (await inReview(sabotage, review, plan, rule)).broken?.rule === rule;
}

/** Replaces some methods of the host. */
function withPulls(
  change: (pulls: PullRequests, repository: SimulatedRepository) => Partial<PullRequests>,
): NonNullable<Sabotage['parts']> {
  return withGithub((pulls, { repository }) => change(pulls, repository));
}

function withGithub(
  change: (pulls: PullRequests, review: ReviewWorld) => Partial<PullRequests>,
): NonNullable<Sabotage['parts']> {
  return (parts: OrchestratorParts, { review }) => {
    const pullsFor: OrchestratorParts['pullsFor'] = (settings) => {
      const pulls = parts.pullsFor(settings);
      return pulls === null || review === null ? pulls : overridden(pulls, change(pulls, review));
    };
    return { ...parts, pullsFor };
  };
}

/** The real host is a class: its methods stay bound to it. */
function overridden(pulls: PullRequests, some: Partial<PullRequests>): PullRequests {
  return new Proxy(pulls, {
    get: (target, name) => {
      if (name in some) return Reflect.get(some, name);
      const found = Reflect.get(target, name);
      return typeof found === 'function' ? found.bind(target) : found;
    },
  });
}
