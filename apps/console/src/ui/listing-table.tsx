import { type InfiniteData, type UseInfiniteQueryResult } from '@tanstack/react-query';
import { type JSX, type ReactNode, useEffect, useMemo, useRef } from 'react';
import type { Listed } from '../api/cursor.js';
import { Button } from './button.js';
import { type Column, DataTable } from './data-table.js';
import { Loaded } from './states.js';

/** Distance to the end at which more is loaded. */
const NEARBY = '1200px';

interface ListingTableProps<T> {
  readonly query: UseInfiniteQueryResult<InfiniteData<Listed<T>>>;
  /** Such as `sessions`. */
  readonly what: string;
  readonly columns: readonly Column<T>[];
  readonly keyOf: (row: T) => string;
  /** Hides rows that were loaded. */
  readonly filter?: (row: T) => boolean;
  /** Shown instead of a table without rows. */
  readonly empty: ReactNode;
  /** Older rows are loaded when the end is near. Not for people's data: each reading is an entry of the audit log. */
  readonly loadsItself?: boolean;
  readonly stateOf?: (row: T) => string | undefined;
}

/** The rows of a listing, with a button that loads older ones. */
export const ListingTable = <T extends object>(props: ListingTableProps<T>): JSX.Element => (
  <Loaded query={props.query} what={props.what}>
    {({ pages }) => <Rows {...props} pages={pages} />}
  </Loaded>
);

function Rows<T extends object>({
  pages,
  query,
  what,
  columns,
  keyOf,
  filter,
  empty,
  loadsItself = false,
  stateOf,
}: ListingTableProps<T> & { readonly pages: readonly Listed<T>[] }): JSX.Element {
  const rows = useMemo(() => {
    const all = pages.flatMap(({ data }) => data);
    return filter === undefined ? all : all.filter(filter);
  }, [pages, filter]);
  const footer = query.hasNextPage ? (
    <div className="table-more">
      {loadsItself && <LoadsNearby query={query} />}
      {rows.length.toLocaleString('en')} loaded
      <Button isDisabled={query.isFetchingNextPage} onPress={() => void query.fetchNextPage()}>
        {query.isFetchingNextPage ? 'Loading…' : `Load older ${what}`}
      </Button>
    </div>
  ) : null;
  if (rows.length === 0)
    return (
      <div className="table-frame">
        {empty}
        {footer}
      </div>
    );
  return (
    <DataTable
      label={what}
      columns={columns}
      rows={rows}
      keyOf={keyOf}
      footer={footer}
      {...(stateOf === undefined ? {} : { stateOf })}
    />
  );
}

/** Loads more while the reader is near the end. */
function LoadsNearby({
  query: { isFetching, isError, fetchNextPage },
}: {
  readonly query: Pick<UseInfiniteQueryResult, 'isFetching' | 'isError' | 'fetchNextPage'>;
}): JSX.Element {
  const mark = useRef<HTMLSpanElement>(null);
  const mayLoad = !isFetching && !isError;
  useEffect(() => {
    if (mark.current === null || !mayLoad) return undefined;
    const observer = new IntersectionObserver(
      (entries) => {
        // A busy page gets several at once, the latest last.
        if (entries.at(-1)?.isIntersecting === true) void fetchNextPage();
      },
      { rootMargin: NEARBY },
    );
    observer.observe(mark.current);
    return () => observer.disconnect();
  }, [mayLoad, fetchNextPage]);
  return <span ref={mark} />;
}
