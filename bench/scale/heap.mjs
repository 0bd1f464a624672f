/** What comes next by time; of two at one time the one that was put in first. */
export function createHeap() {
  const items = [];
  let count = 0;
  const before = (left, right) => left.at < right.at || (left.at === right.at && left.number < right.number);
  const swap = (left, right) => {
    [items[left], items[right]] = [items[right], items[left]];
  };
  return {
    get size() {
      return items.length;
    },
    push(at, value) {
      let place = items.push({ at, value, number: count }) - 1;
      count += 1;
      for (let above = (place - 1) >> 1; place > 0 && before(items[place], items[above]); above = (place - 1) >> 1) {
        swap(place, above);
        place = above;
      }
    },
    pop() {
      const [first] = items;
      const last = items.pop();
      if (items.length === 0) return first;
      items[0] = last;
      for (let place = 0; ; ) {
        let least = place;
        for (const below of [2 * place + 1, 2 * place + 2])
          if (below < items.length && before(items[below], items[least])) least = below;
        if (least === place) return first;
        swap(place, least);
        place = least;
      }
    },
  };
}
