// Whether one of two results is the better one, or whether that cannot be told. `bench compare` decides
// the same way (compare/told_apart.rs); a result is { median, lowest, highest, runs, mayWin }.

// In percent of the greater one: where there is one run, and where several say how far they lie apart.
const APART_OF_ONE_RUN = 5;
const APART_OF_SEVERAL = 1;

// No run of one lies among the other's, and the two lie further apart than runs of either do.
function areApart(one, other) {
  const overlap = one.lowest <= other.highest && other.lowest <= one.highest;
  const least = Math.min(one.runs, other.runs) === 1 ? APART_OF_ONE_RUN : APART_OF_SEVERAL;
  const spread = ({ lowest, highest }) => highest - lowest;
  const amongThemselves = Math.max(
    spread(one),
    spread(other),
    (Math.max(Math.abs(one.median), Math.abs(other.median)) * least) / 100,
  );
  return !overlap && Math.abs(one.median - other.median) > amongThemselves;
}

// For each result in order, best first, the places that it may have among those that may win: [2, 5] is
// any from the second to the fifth; none for what has doubts.
function placesOf(ranked) {
  const fit = ranked.filter((row) => row.mayWin);
  const places = new Map(
    fit.map((row, at) => {
      const apart = (others) => others.filter((other) => areApart(row, other)).length;
      return [row, [1 + apart(fit.slice(0, at)), fit.length - apart(fit.slice(at + 1))]];
    }),
  );
  return ranked.map((row) => places.get(row) ?? null);
}
