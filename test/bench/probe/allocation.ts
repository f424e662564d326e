/** A collection of V8, as `v8.GCProfiler` reports it; only the fields that are used. */
export interface Collection {
  readonly beforeGC: { readonly heapStatistics: { readonly usedHeapSize: number } };
  readonly afterGC: { readonly heapStatistics: { readonly usedHeapSize: number } };
}

/**
 * Bytes that were allocated on the heap of V8 between two moments: the growth of the used heap, and what the collections
 * between them freed.
 *
 * That is V8's own count: the sum of `allocated` of `--trace-gc-nvp` over the same time. Memory outside the heap, such as
 * the contents of Buffers, is not in it.
 */
export function allocatedBytes(usedBefore: number, usedAfter: number, collections: readonly Collection[]): number {
  const freed = collections.map(
    ({ beforeGC, afterGC }) => beforeGC.heapStatistics.usedHeapSize - afterGC.heapStatistics.usedHeapSize,
  );
  return freed.reduce((all, bytes) => all + bytes, usedAfter - usedBefore);
}
