/** The user's answers to the questions of an adapter, by question name; unanswered questions are absent. */
export type InitAnswers = Readonly<Record<string, string>>;

/** Something that `baton init` has to know before it can write a workflow file with this adapter. */
export interface InitQuestion {
  /** Such as `project_slug`; the option `--project-slug` answers it without asking. */
  readonly name: string;
  /** The placeholder of its value in `baton init --help`, such as `slug`. */
  readonly value: string;
  readonly help: string;
  readonly question: string;
}

/** What every adapter provides to `baton init`. */
export interface AdapterInit {
  /** A few words for people who do not know the name; null where it says enough. */
  readonly about: string | null;
  readonly questions: readonly InitQuestion[];
  /** The settings in the adapter's section of the file, in addition to its name. */
  readonly settings: (answers: InitAnswers) => Readonly<Record<string, unknown>>;
  /** Comments above keys of the file, by key. */
  readonly comments?: Readonly<Record<string, string>>;
}
