import {
  createSortedRowModel,
  type ReactTable,
  rowSortingFeature,
  sortFn_alphanumeric,
  tableFeatures,
  useTable,
} from '@tanstack/react-table';
import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { type JSX, type ReactNode, useLayoutEffect, useMemo, useRef, useState } from 'react';

/** A column: `value` makes it sortable. */
export interface Column<T> {
  readonly name: string;
  readonly cell: (row: T) => ReactNode;
  readonly value?: (row: T) => string | number;
  readonly align?: 'end';
}

interface DataTableProps<T> {
  /** For screen readers. */
  readonly label: string;
  readonly columns: readonly Column<T>[];
  readonly rows: readonly T[];
  readonly keyOf: (row: T) => string;
  /** Below the rows, such as a button that loads more. */
  readonly footer?: ReactNode;
  /** The attribute `data-state` of a row, for its style. */
  readonly stateOf?: (row: T) => string | undefined;
}

const features = tableFeatures({
  rowSortingFeature,
  sortedRowModel: createSortedRowModel(),
  sortFns: { alphanumeric: sortFn_alphanumeric },
});
type Grid<T extends object> = ReactTable<typeof features, T>;

/** An estimate until a row was measured. */
const ROW_PX = 46;
const OVERSCAN_ROWS = 12;

const ARIA_SORT = { asc: 'ascending', desc: 'descending' } as const;

/** A table of any number of rows: those near the visible part are in the document. Rows are cards on a narrow screen. */
export function DataTable<T extends object>(props: DataTableProps<T>): JSX.Element {
  const { label, columns, rows, keyOf, footer, stateOf } = props;
  const data = useMemo(() => [...rows], [rows]);
  const definitions = useMemo(
    () =>
      columns.map(({ name, value }) => ({
        id: name,
        accessorFn: (row: T) => value?.(row) ?? '',
        enableSorting: value !== undefined,
        sortFn: 'alphanumeric' as const,
      })),
    [columns],
  );
  const table: Grid<T> = useTable({ features, columns: definitions, data, getRowId: keyOf });
  return (
    <div className="table-frame">
      <table className="table" role="table" aria-label={label} aria-rowcount={rows.length + 1}>
        <Head table={table} columns={columns} />
        <Body table={table} columns={columns} stateOf={stateOf} />
      </table>
      {footer}
    </div>
  );
}

interface PartProps<T extends object> {
  readonly table: Grid<T>;
  readonly columns: readonly Column<T>[];
}

interface BodyProps<T extends object> extends PartProps<T> {
  readonly stateOf: ((row: T) => string | undefined) | undefined;
}

const Head = <T extends object>({ table, columns }: PartProps<T>): JSX.Element => (
  <thead role="rowgroup">
    <tr role="row" aria-rowindex={1}>
      {columns.map(({ name, align }) => {
        const column = table.getColumn(name);
        const sorted = column?.getIsSorted() ?? false;
        return (
          <th
            key={name}
            role="columnheader"
            scope="col"
            data-align={align}
            aria-sort={sorted === false ? undefined : ARIA_SORT[sorted]}
          >
            {column?.getCanSort() === true ? (
              <button type="button" onClick={column.getToggleSortingHandler()}>
                {name}
                <span aria-hidden="true">{sorted === false ? '' : sorted === 'asc' ? ' ↑' : ' ↓'}</span>
              </button>
            ) : (
              name
            )}
          </th>
        );
      })}
    </tr>
  </thead>
);

function Body<T extends object>({ table, columns, stateOf }: BodyProps<T>): JSX.Element {
  const { rows } = table.getRowModel();
  const body = useRef<HTMLTableSectionElement>(null);
  const [scrollMargin, setScrollMargin] = useState(0);
  useLayoutEffect(() => {
    setScrollMargin((body.current?.getBoundingClientRect().top ?? 0) + window.scrollY);
  }, []);
  const virtual = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => ROW_PX,
    overscan: OVERSCAN_ROWS,
    scrollMargin,
    getItemKey: (index) => rows[index]?.id ?? index,
  });
  const items = virtual.getVirtualItems();
  const above = (items[0]?.start ?? scrollMargin) - scrollMargin;
  const below = virtual.getTotalSize() - ((items.at(-1)?.end ?? scrollMargin) - scrollMargin);
  return (
    <tbody role="rowgroup" ref={body}>
      <Spacer height={above} />
      {items.map(({ index, key }) => {
        const row = rows[index];
        if (row === undefined) return null;
        return (
          <tr
            key={String(key)}
            role="row"
            data-row
            data-index={index}
            data-key={row.id}
            data-state={stateOf?.(row.original)}
            aria-rowindex={index + 2}
            ref={virtual.measureElement}
          >
            {columns.map((column) => (
              <Cell key={column.name} column={column} row={row.original} />
            ))}
          </tr>
        );
      })}
      <Spacer height={below} />
    </tbody>
  );
}

/** The text of a cell without a value. */
const NOTHING = '–';

/** One element for the value, so that a card on a narrow screen has two columns: the label and the value. */
function Cell<T>({ column, row }: { readonly column: Column<T>; readonly row: T }): JSX.Element {
  const { name, cell, align } = column;
  const content = cell(row);
  return (
    <td role="cell" data-label={name} data-align={align} data-empty={content === NOTHING ? '' : undefined}>
      <div>{content}</div>
    </td>
  );
}

/** Stands for the rows that are not in the document. */
const Spacer = ({ height }: { readonly height: number }): JSX.Element | null =>
  height <= 0 ? null : (
    <tr className="spacer" aria-hidden="true">
      <td style={{ height }} />
    </tr>
  );
