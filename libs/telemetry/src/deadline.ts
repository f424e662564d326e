/** Work did not finish before its deadline. It may still finish later; the result is then ignored. */
export class DeadlineError extends Error {
  override readonly name = 'DeadlineError';

  constructor(readonly deadlineMs: number) {
    super(`not done within ${deadlineMs} ms`);
  }
}

/** The result of the work, or a DeadlineError after that many milliseconds. The work itself is not stopped. */
export async function withinDeadline<Result>(
  deadlineMs: number,
  work: () => Result | Promise<Result>,
): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const expiry = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new DeadlineError(deadlineMs)), deadlineMs);
  });
  try {
    return await Promise.race([Promise.resolve().then(work), expiry]);
  } finally {
    clearTimeout(timer);
  }
}
