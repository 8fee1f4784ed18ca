//! Kernels, as the build script has optimised them.

/// What the driver loads.
pub const BLEND: &str = include_str!(concat!(env!("OUT_DIR"), "/blend.ptx"));

#[cfg(test)]
mod tests {
    use super::BLEND;

    #[test]
    fn the_kernel_is_there_and_its_video_instructions_are_gone() {
        let kernels = include_str!("../kernels/blend.ptx");
        for part in [".visible .entry blend(", "vavrg4", "vadd4", "vmax4"] {
            assert!(kernels.contains(part), "{part}");
        }
        assert!(BLEND.contains(".visible .entry blend("));
        assert!(!BLEND.contains("vavrg4") && !BLEND.contains("vadd4") && !BLEND.contains("vmax4"), "{BLEND}");
    }
}
