import type { JSX, ReactNode } from 'react';
import { ApiError } from '../api/client.js';
import { Button } from './button.js';
import { isUnconfirmed } from './confirmation.js';

/** Shown while data is read for the first time. */
export const Loading = ({ what }: { readonly what: string }): JSX.Element => (
  <div className="skeleton" role="status">
    <span />
    <span />
    <span />
    <span className="visually-hidden">{`Loading ${what}`}</span>
  </div>
);

/** A list without rows, and what to do next. */
export const Empty = ({ title, children }: { readonly title: string; readonly children: ReactNode }): JSX.Element => (
  <div className="empty">
    <strong>{title}</strong>
    <p>{children}</p>
  </div>
);

/** The advice for a failure, by its status. */
function adviceOf(error: Error): string {
  if (!(error instanceof ApiError))
    return 'Load the page again. If it stays so, the console and the server may differ in version.';
  if (isUnconfirmed(error)) return 'An owner of the installation makes the first key of an account.';
  if (error.status === 403) return 'Your role may not do this. An owner of the installation can change the role.';
  if (error.status === 404) return 'It may have been deleted, or be older than the retention.';
  if (error.status === 429) return 'Wait a minute, then try again.';
  return 'Try again. If it stays so, read the log of the control plane.';
}

/** A failure with advice; `retry` adds a button. */
export function Failure({ error, retry }: { readonly error: Error; readonly retry?: () => void }): JSX.Element {
  const docUrl = error instanceof ApiError ? error.docUrl : null;
  return (
    <div className="notice" data-tone="bad" role="alert">
      <p>
        <strong>{error.message}</strong> {adviceOf(error)}{' '}
        {docUrl !== null && (
          <a href={docUrl} target="_blank" rel="noreferrer">
            About this error
          </a>
        )}
      </p>
      {retry !== undefined && <Button onPress={retry}>Try again</Button>}
    </div>
  );
}

interface Asked<T> {
  readonly data: T | undefined;
  readonly error: Error | null;
  readonly refetch: () => unknown;
}

interface LoadedProps<T> {
  readonly query: Asked<T>;
  /** For the loading state, such as `the bind`. */
  readonly what: string;
  readonly children: (data: T) => ReactNode;
}

/** The data of a query, its loading state or its failure. Data that could not be refreshed stays, below a notice. */
export function Loaded<T>({ query: { data, error, refetch }, what, children }: LoadedProps<T>): JSX.Element {
  const failure = error === null ? null : <Failure error={error} retry={() => void refetch()} />;
  if (data === undefined) return failure ?? <Loading what={what} />;
  return (
    <>
      {failure}
      {children(data)}
    </>
  );
}
