//! Things that are known by a number as long as they are under way.

/// Things by numbers that are used again.
#[derive(Debug, Clone)]
pub(crate) struct Slab<V> {
    places: Vec<Option<V>>,
    free: Vec<usize>,
}

impl<V> Default for Slab<V> {
    fn default() -> Self {
        Self { places: Vec::new(), free: Vec::new() }
    }
}

impl<V> Slab<V> {
    pub(crate) fn insert(&mut self, value: V) -> usize {
        let place = self.free.pop().unwrap_or(self.places.len());
        if place == self.places.len() {
            self.places.push(None);
        }
        self.places[place] = Some(value);
        place
    }

    pub(crate) fn get(&mut self, place: usize) -> &mut V {
        self.places[place].as_mut().expect("a number that was given")
    }

    pub(crate) fn remove(&mut self, place: usize) -> V {
        self.free.push(place);
        self.places[place].take().expect("a number that was given")
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &V> {
        self.places.iter().flatten()
    }

    pub(crate) fn len(&self) -> usize {
        self.places.len() - self.free.len()
    }
}
